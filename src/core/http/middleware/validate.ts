import { z } from "zod";
import { invalidInput } from "../../../platform/base/errors.ts";
import { joinPath } from "../../../platform/kinds/wire.ts";
import { isObjectSchema } from "../../../platform/kinds/zod-shape.ts";

type Issue = z.core.$ZodIssue;

/** So many fields that there are not are named in one place: the answer stays small. */
const namedKeys = 10;

/** A field that the object does not have is named itself (HTTP-6). */
const placesOf = (issue: Issue): { path: PropertyKey[]; message: string }[] =>
  issue.code === "unrecognized_keys"
    ? issue.keys.slice(0, namedKeys).map((key) => ({ path: [...issue.path, key], message: "there is no such field" }))
    : [issue];

/** Parses `value` with `schema`. Throws `bad_request` with one detail for each bad field. */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  // A path through JSON holds no symbols.
  throw invalidInput(
    error.issues
      .flatMap(placesOf)
      .map(({ path, message }) => ({ path: joinPath(path as (string | number)[]) || "body", message })),
  );
};

const isField = (schema: z.ZodType, name: string | undefined): name is string =>
  name !== undefined && isObjectSchema(schema) && Object.hasOwn(schema.shape, name);

/** The schemas of fields that may be given more than once. */
const lists = new WeakSet<z.ZodType>();

/** A field of a query with several values: given more than once, or with commas between them as the SDK does. */
export const listInQuery = <Item extends z.ZodType>(item: Item, most: number, description: string) => {
  const split = (value: unknown): unknown =>
    typeof value === "string"
      ? value.split(",")
      : Array.isArray(value)
        ? value.flatMap(String).flatMap((text) => text.split(","))
        : value;
  const schema = z.preprocess(split, z.array(item).max(most).optional()).describe(description);
  lists.add(schema);
  return schema;
};

const isList = (schema: z.ZodType, name: string): boolean =>
  isObjectSchema(schema) && Object.hasOwn(schema.shape, name) && lists.has(schema.shape[name] as z.ZodType);

/**
 * Converts the SDK's `tags[team]=a&tags[env]=b` to `tags: {team: "a", env: "b"}`; other fields stay unchanged. Throws
 * `bad_request` for a field that is given twice, and for one of `schema` whose brackets are written otherwise.
 */
export const nestQuery = (query: Record<string, unknown>, schema: z.ZodType): Record<string, unknown> => {
  const nested: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(query)) {
    if (isList(schema, key)) {
      nested[key] = value;
      continue;
    }
    if (typeof value !== "string") throw invalidInput([{ path: key, message: "give this once" }]);
    const [, outer, inner] = /^(\w+)\[(?:([^\]]+)\]$)?/.exec(key) ?? [];
    if (inner === undefined && isField(schema, outer))
      throw invalidInput([{ path: key, message: `write an entry as ${outer}[key]=value` }]);
    if (outer === undefined || inner === undefined) nested[key] = value;
    else nested[outer] = Object.assign(Object.create(null), nested[outer] ?? {}, { [inner]: value });
  }
  return nested;
};
