/** A kind's descriptor → its CustomResourceDefinition. */
import { z } from "zod";
import type { AnyKind } from "./kind.ts";
import { isArraySchema, isObjectSchema, isRecordSchema, isWrapperSchema } from "./zod-shape.ts";

// The subset of zod that a CRD can express. Everything else either vanishes silently from the CRD (refine, transform,
// coerce, key patterns, regex flags) or gives a schema that the API server refuses (`$ref`, `oneOf`,
// `additionalProperties` beside `properties`, look-ahead). A construct that is not known to be safe is refused.

/** Refused zod types: the construct, why it is refused, and what to use instead. */
const refused: Record<string, string> = {
  pipe: "z.pipe / transform / coerce / preprocess / codec vanishes; convert outside the schema",
  transform: "z.transform vanishes; convert outside the schema",
  union: "z.union / discriminatedUnion is not structural; use optional fields and a CEL rule",
  intersection: "z.intersection is not structural; use extend",
  custom: "z.custom / instanceof vanishes; use a CEL rule",
  date: "z.date has no JSON form; use z.iso.datetime",
  lazy: "z.lazy gives a $ref; write the shape out",
  tuple: "z.tuple is not structural; use an object",
  catch: "z.catch vanishes; the API server refuses instead",
  prefault: "z.prefault vanishes; use default",
  readonly: "z.readonly vanishes; use a CEL rule",
  any: "z.any says nothing; use z.unknown",
};

const safeChecks = new Set(["min_length", "max_length", "length_equals", "greater_than", "less_than", "multiple_of"]);

type Check = { check: string; format?: string | undefined; pattern?: RegExp | undefined };

const patternProblem = (pattern: RegExp): string | undefined => {
  if (pattern.flags !== "") return `the flags of /${pattern.source}/${pattern.flags} vanish`;
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern.source))
    return `/${pattern.source}/ uses what RE2 cannot (look-around, back-reference)`;
  return undefined;
};

const checkProblem = (check: Check): string | undefined => {
  if (safeChecks.has(check.check)) return undefined;
  if (check.check === "number_format") return check.format === "safeint" ? undefined : `number format ${check.format}`;
  if (check.check === "string_format" && check.format === "regex" && check.pattern)
    return patternProblem(check.pattern);
  if (check.check === "string_format" && check.format === "datetime") return undefined;
  if (check.check === "custom") return "refine / superRefine vanishes; use a CEL rule";
  if (check.check === "overwrite") return "trim / toLowerCase and the like vanish; convert outside the schema";
  return `check ${check.format ?? check.check} is not known to be safe`;
};

const checkProblems = (schema: z.ZodType): (string | undefined)[] => {
  // A check can be a schema's own (z.int, z.iso.datetime), and then its fields are in the schema's definition.
  // zod types a definition by its kind; all kinds share these fields.
  const { coerce, check, ...def } = schema.def as z.core.$ZodTypeDef & Partial<Check> & { coerce?: boolean };
  const own: Check[] = check === undefined ? [] : [{ ...def, check }];
  const added = (def.checks ?? []).map(({ _zod }): Check => _zod.def);
  return [
    coerce ? "z.coerce vanishes; convert outside the schema" : undefined,
    ...[...own, ...added].map(checkProblem),
  ];
};

/** Kubernetes' IntOrString: the one union that is structural, when it is marked. */
const isIntOrString = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodUnion &&
  z.globalRegistry.get(schema)?.["x-kubernetes-int-or-string"] === true &&
  schema.options.map((option) => (option instanceof z.ZodType ? option.def.type : "")).join() === "number,string";

const isPlainString = (schema: unknown): boolean => schema instanceof z.ZodString && !schema.def.checks?.length;

type Child = { key: string; schema: z.ZodType };

/** The schemas inside one schema, or why it is refused. */
const inspect = (schema: z.ZodType): { children: Child[]; problem?: string } => {
  if (isObjectSchema(schema)) {
    const children = Object.entries(schema.shape).map(([key, field]) => ({ key, schema: field }));
    if (!schema.def.catchall) return { children };
    return { children, problem: "strictObject / looseObject / catchall gives additionalProperties beside properties" };
  }
  if (isArraySchema(schema)) return { children: [{ key: "[]", schema: schema.element }] };
  if (isWrapperSchema(schema)) return { children: [{ key: "", schema: schema.unwrap() }] };
  if (isRecordSchema(schema)) {
    const children = [{ key: "*", schema: schema.valueType }];
    return isPlainString(schema.keyType) ? { children } : { children, problem: "the key schema of z.record vanishes" };
  }
  if (isIntOrString(schema)) return { children: [] };
  const leaves = ["string", "number", "boolean", "enum", "unknown"];
  const { type } = schema.def;
  return leaves.includes(type)
    ? { children: [] }
    : { children: [], problem: refused[type] ?? `z.${type} is not known to be safe` };
};

const problemsAt = (schema: z.ZodType, path: string, above: z.ZodType[]): string[] => {
  if (above.includes(schema)) return [`${path}: a recursive schema gives a $ref; write the shape out`];
  const { children, problem } = inspect(schema);
  const id =
    z.globalRegistry.get(schema)?.id === undefined
      ? undefined
      : ".meta({id}) gives a $ref; name schemas in another registry";
  const here = [problem, id, ...checkProblems(schema)]
    .filter((text) => text !== undefined)
    .map((text) => `${path}: ${text}`);
  const pathOf = (key: string): string => (key === "" || key === "[]" ? path + key : `${path}.${key}`);
  return [...here, ...children.flatMap((child) => problemsAt(child.schema, pathOf(child.key), [...above, schema]))];
};

/** All constructs of `schema` that a CRD can't express, each as `path: what and why`; empty when the schema is safe. */
const crdProblems = (schema: z.ZodType, path: string): string[] => problemsAt(schema, path, []);

type JsonSchema = Record<string, unknown>;

/** The API server takes exactly these types in an IntOrString, and what else is said of them beside them. */
const tidyIntOrString = (jsonSchema: JsonSchema): void => {
  const [number, text] = jsonSchema.anyOf as [JsonSchema, JsonSchema];
  const { type: _, ...bounds } = { ...number, ...text };
  Object.assign(jsonSchema, bounds, { anyOf: [{ type: "integer" }, { type: "string" }] });
};

/** Removes parts of zod's JSON schema that the API server refuses or that only lengthen the file. */
const tidy = ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void => {
  if (zodSchema._zod.def.type === "unknown") jsonSchema["x-kubernetes-preserve-unknown-fields"] = true;
  if (jsonSchema["x-kubernetes-int-or-string"] === true) tidyIntOrString(jsonSchema);
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern; // The API server checks the format itself.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum; // z.int() adds both bounds by itself.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};

/** The structural schema of one part of a kind. Throws an Error that names every construct that a CRD can't express. */
export const structuralSchema = (schema: z.ZodType, path: string): JsonSchema => {
  const problems = crdProblems(schema, path);
  if (problems.length > 0) throw new Error(`a CRD can't express this:\n  ${problems.join("\n  ")}`);
  const options = { target: "openapi-3.0", io: "input", cycles: "throw", unrepresentable: "throw" } as const;
  return z.toJSONSchema(schema, { ...options, override: tidy });
};

const versionOf = (kind: AnyKind): object => ({
  name: kind.version,
  served: true,
  storage: true,
  additionalPrinterColumns: kind.printerColumns,
  schema: {
    openAPIV3Schema: {
      description: kind.description,
      type: "object",
      required: ["spec"],
      properties: {
        apiVersion: { type: "string", description: "The group and version of the object." },
        kind: { type: "string", description: "The kind of the object." },
        metadata: { type: "object" },
        spec: structuralSchema(kind.spec, `${kind.kind}.spec`),
        status: structuralSchema(kind.status, `${kind.kind}.status`),
      },
    },
  },
  subresources: { status: {}, ...(kind.scale ? { scale: kind.scale } : {}) },
});

/** The name of a kind's CRD, e.g. `browserpools.browserpool.dev`. */
const crdName = (kind: AnyKind): string => `${kind.plural}.${kind.group}`;

/** The CRD of a kind. Throws as `structuralSchema` does. */
export const crdOf = (kind: AnyKind): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: crdName(kind) },
  spec: {
    group: kind.group,
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    names: {
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      plural: kind.plural,
      singular: kind.kind.toLowerCase(),
      shortNames: kind.shortNames,
      categories: ["browserpool-all"],
    },
    versions: [versionOf(kind)],
  },
});
