import { z } from "zod";

type OptionalField<Field> =
  Field extends z.ZodDefault<infer Inner>
    ? z.ZodOptional<Inner>
    : Field extends z.ZodOptional
      ? Field
      : Field extends z.ZodType
        ? z.ZodOptional<Field>
        : never;

/**
 * Makes all fields of a schema optional, for a PATCH. zod's `partial()` would keep the defaults and overwrite omitted fields with
 * them.
 */
export const optionalFields = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>) => {
  // zod types the parts of a shape by their core; all of ours are of its classic API. The result type says what the loop builds.
  const fields = Object.entries(schema.shape as z.ZodRawShape).map(([key, shape]) => {
    const field = shape as z.ZodType;
    const isWrapped = field instanceof z.ZodDefault || field instanceof z.ZodOptional;
    const inner = isWrapped ? (field.unwrap() as z.ZodType) : field;
    return [key, inner.describe(field.description ?? inner.description ?? "").optional()];
  });
  return z.object(Object.fromEntries(fields)) as z.ZodObject<{ [Key in keyof Shape]: OptionalField<Shape[Key]> }>;
};
