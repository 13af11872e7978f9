import type { z } from "zod";

/** Parses a value with a schema. Throws an `Error` that begins with `where` and names each bad field. */
export const checkValue = <T extends z.ZodType>(schema: T, value: unknown, where: string): z.infer<T> => {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join(".") || "the document"}: ${message}`);
  throw new Error(`${where}: ${problems.join("; ")}`);
};
