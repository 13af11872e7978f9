/** A kind's descriptor → its CustomResourceDefinition. */
import { z } from "zod";
import { crdProblems } from "./crd-safe.ts";
import type { AnyKind } from "./kind.ts";

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
