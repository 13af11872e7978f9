/** The worst bodies that a route takes: within its bounds, and with as much in them as there is room for. */
import type { z } from "zod";
import { routes } from "../../src/cmd/features.ts";
import { defaultBodyEntries, maxBodyNames } from "../../src/core/http/body-entries.ts";
import type { Route } from "../../src/core/http/route.ts";
import { isObjectSchema } from "../../src/platform/kinds/zod-shape.ts";

/** The routes with a JSON body. */
export const withBody = routes.filter(({ body, upload }) => body && !upload);

/** The bounds of a body: bytes, and entries (LIMIT-31). */
export const boundsOf = ({ bodyLimit = 1024 * 1024, bodyEntries = defaultBodyEntries }: Route) => ({
  bytes: bodyLimit,
  entries: bodyEntries,
});
const fieldsOf = ({ body }: Route): string[] =>
  isObjectSchema(body as z.ZodType) ? Object.keys((body as z.ZodObject).shape) : ["a", "b"];
/** A list of so many, rounded down. */
export const repeated = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, index) => make(index));
/** An object of so many fields, whose names have so many bytes. */
export const named = (count: number, bytes: number): Record<string, number> =>
  Object.fromEntries(repeated(count, (index) => [`!${index}`.padEnd(bytes, "!"), 0]));

/** Bodies within the bounds, in which every field has as much as there is room for, of what it does not take. */
export const worstBodies = (route: Route): Record<string, object> => {
  const fields = fieldsOf(route);
  const { bytes, entries } = boundsOf(route);
  const [byteShare, entryShare] = [(bytes * 0.9) / fields.length, (entries * 0.9) / fields.length - 2];
  const nameShare = Math.min(maxBodyNames * 0.9, entries * 0.9) / fields.length - 2;
  const each = (value: unknown): object => Object.fromEntries(fields.map((field) => [field, value]));
  return {
    "long texts": each("!".repeat(byteShare)),
    "long lists": each(repeated(entryShare, () => ({}))),
    "long lists of texts": each(repeated(entryShare, () => "!".repeat(Math.max(1, byteShare / entryShare - 4)))),
    "many names": each(named(nameShare, Math.max(1, byteShare / nameShare - 6))),
    "unknown fields": { ...named(Math.min(entries, maxBodyNames) - 50, 20), ...each({}) },
  };
};

/** With names of objects that are not there. */
export const pathOf = ({ path }: Route): string => path.replace(/\{\w+\}/g, "nothing");
