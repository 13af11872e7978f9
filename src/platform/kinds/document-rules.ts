/**
 * Rules of objects that JSON Schema can say, and zod or a CRD can't. They go into the OpenAPI document, on the wire's
 * schemas too; code enforces them (the rules of each kind), and CEL rules say the same to Kubernetes.
 */
import { z } from "zod";
import { celRules, validations } from "./kind.ts";
import { isWrapperSchema } from "./zod-shape.ts";

type JsonRules = {
  oneOf?: Record<string, unknown>[];
  allOf?: { oneOf: Record<string, unknown>[] }[];
  not?: Record<string, unknown>;
  additionalProperties?: false;
  propertyNames?: { pattern: string };
};

const rulesOf = z.registry<JsonRules>();

/** Says in the document that exactly one of these forms holds. Returns the same schema. */
export const documentedForms = <S extends z.ZodType>(schema: S, forms: Record<string, unknown>[]): S => {
  rulesOf.add(schema, { ...rulesOf.get(schema), oneOf: forms });
  return schema;
};

/** The same for several lists of forms at once: exactly one of each holds. */
export const documentedFormsOfEach = <S extends z.ZodType>(schema: S, ...lists: Record<string, unknown>[][]): S => {
  rulesOf.add(schema, { ...rulesOf.get(schema), allOf: lists.map((oneOf) => ({ oneOf })) });
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
  rulesOf.add(schema, { ...rulesOf.get(schema), not: { required: Object.keys(properties), properties } });
  return schema;
};

/** Says in the document what the names of a free map are like. Returns the same schema. */
export const namesLike = <S extends z.ZodType>(schema: S, pattern: RegExp): S => {
  rulesOf.add(schema, { ...rulesOf.get(schema), propertyNames: { pattern: pattern.source } });
  return schema;
};

/**
 * Says that an object has no other fields: on the wire (wire.ts), a further one is refused there. For objects in which
 * a misspelled field would leave less than what was asked for. Returns the same schema.
 */
export const closedObject = <S extends z.ZodType>(schema: S): S => {
  rulesOf.add(schema, { ...rulesOf.get(schema), additionalProperties: false });
  return schema;
};

/** `pattern`: the source of a regular expression. */
type TextRule = { pattern: string; message: string };

const textRules = z.registry<TextRule>();

/**
 * Says that a text doesn't match a pattern: by CEL in Kubernetes, on the wire (wire.ts), and in the document.
 * `pattern`: one that RE2 has too. The schema needs a greatest length: CEL must know what a check costs.
 */
export const notMatching = (schema: z.ZodString, pattern: RegExp, message: string): z.ZodString => {
  const ruled = schema.meta(validations(...celRules(schema), { rule: `!self.matches(r'${pattern.source}')`, message }));
  rulesOf.add(ruled, { not: { pattern: pattern.source } });
  textRules.add(ruled, { pattern: pattern.source, message });
  return ruled;
};

/** What a text doesn't match, if `notMatching` said so of the schema. */
export const textRule = (schema: z.ZodType): TextRule | undefined => textRules.get(schema);

/** The rules of a schema, as keywords of JSON Schema. */
export const documentRules = (schema: z.core.$ZodType): JsonRules | undefined => rulesOf.get(schema);

/** Whether a schema, or what it makes optional, is a `closedObject`. */
export const isClosed = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodType && isWrapperSchema(schema)
    ? isClosed(schema.unwrap())
    : documentRules(schema)?.additionalProperties === false;

/** Gives the rules of one schema to another that is made from it. */
export const copyDocumentRules = <S extends z.ZodType>(from: z.ZodType, to: S): S => {
  const rules = documentRules(from);
  if (rules) rulesOf.add(to, rules);
  return to;
};
