import type { z } from "zod";

/** What a schema makes of a value; throws an `Error` that names each bad field as `where.field`. */
export const checkValue = <T extends z.ZodType>(schema: T, value: unknown, where: string): z.infer<T> => {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join(".") || "the document"}: ${message}`);
  throw new Error(`${where}: ${problems.join("; ")}`);
};
