import type { z } from "zod";
import { invalidInput } from "../../errors.ts";
import { joinPath } from "../../resources/wire.ts";

/** Parses `value` with `schema`. Throws `bad_request` with one detail for each bad field. */
export const validate = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  // A path through JSON holds no symbols.
  throw invalidInput(
    error.issues.map(({ path, message }) => ({ path: joinPath(path as (string | number)[]) || "body", message })),
  );
};

/** Converts the SDK's `tags[team]=a&tags[env]=b` to `tags: {team: "a", env: "b"}`; other fields stay unchanged. */
export const nestQuery = (query: Record<string, unknown>): Record<string, unknown> => {
  const nested: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(query)) {
    if (typeof value !== "string") throw invalidInput([{ path: key, message: "give this once" }]);
    const [, outer, inner] = /^(\w+)\[([^\]]+)\]$/.exec(key) ?? [];
    if (outer === undefined || inner === undefined) nested[key] = value;
    else nested[outer] = Object.assign(Object.create(null), nested[outer] ?? {}, { [inner]: value });
  }
  return nested;
};
