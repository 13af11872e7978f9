/**
 * Rules between fields that JSON Schema can say and zod can't. They go into the OpenAPI document, on the wire's schemas too; code
 * enforces them (src/domain), and CEL rules say the same to Kubernetes.
 */
import { z } from "zod";

type JsonRules = { oneOf: Record<string, unknown>[] } | { not: Record<string, unknown> };

const rulesOf = z.registry<JsonRules>();

/** Says in the document that exactly one of these forms holds. Returns the same schema. */
export const documentedForms = <S extends z.ZodType>(schema: S, forms: Record<string, unknown>[]): S => {
  rulesOf.add(schema, { oneOf: forms });
  return schema;
};

/** Says in the document that exactly one of the fields is given. Returns the same schema. */
export const exactlyOneField = <S extends z.ZodType>(schema: S, ...fields: string[]): S =>
  documentedForms(
    schema,
    fields.map((field) => ({ required: [field] })),
  );

/** Says in the document that fields with these forms, by name, are not given together. Returns the same schema. */
export const notTogether = <S extends z.ZodType>(schema: S, properties: Record<string, unknown>): S => {
  rulesOf.add(schema, { not: { required: Object.keys(properties), properties } });
  return schema;
};

/** The rules of a schema, as keywords of JSON Schema. */
export const documentRules = (schema: z.core.$ZodType): JsonRules | undefined => rulesOf.get(schema);

/** Gives the rules of one schema to another that is made from it. */
export const copyDocumentRules = <S extends z.ZodType>(from: z.ZodType, to: S): S => {
  const rules = documentRules(from);
  if (rules) rulesOf.add(to, rules);
  return to;
};
