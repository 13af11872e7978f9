/**
 * Schemas for kubeconform, one file a kind, made of what is in the repository: those of Kubernetes from
 * generated/kubernetes-schemas.json, those of our custom resources from their CRDs. Strict: a field that no schema has is refused.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crdOf } from "../../src/resources/crd.ts";
import { kinds } from "../../src/resources/kinds.ts";

/** Where kubeconform finds a kind's file: `-schema-location` of `join(folder, schemaFileTemplate)`. */
export const schemaFileTemplate = "{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json";

/** kubeconform gives the version as group of what is in the core group. */
const fileOf = (group: string, version: string, kind: string): string =>
  `${group || version}_${version}_${kind.toLowerCase()}.json`;

type BuiltIn = { kinds: Record<string, string>; definitions: Record<string, unknown> };

const builtInSchemas = async (): Promise<[file: string, schema: object][]> => {
  const file = join(import.meta.dirname, "generated/kubernetes-schemas.json");
  const { kinds: references, definitions } = JSON.parse(await readFile(file, "utf8")) as BuiltIn;
  return Object.entries(references).map(([id, $ref]) => {
    const [group = "", version = "", kind = ""] = id.split("/");
    return [fileOf(group, version, kind), { $ref, definitions }];
  });
};

type Schema = { [field: string]: unknown; properties?: Record<string, unknown> };

/** What an API server does with a structural schema: fields that it does not know are dropped, so here they are refused. */
const strict = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([field, part]) => [field, strict(part)]));
  const isOpen = schema.additionalProperties !== undefined || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return schema.properties && !isOpen ? { ...inner, additionalProperties: false } : inner;
};

/** Of every object, beside what its CRD says. */
const objectFields = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } };

type Versions = { spec: { versions: { name: string; schema: { openAPIV3Schema: Schema } }[] } };

const customSchemas = (): [file: string, schema: object][] =>
  kinds.flatMap((kind) =>
    (crdOf(kind) as unknown as Versions).spec.versions.map(({ name, schema }): [string, object] => {
      const { openAPIV3Schema: root } = schema;
      const properties = { ...root.properties, ...objectFields };
      return [fileOf(kind.group, name, kind.kind), strict({ ...root, properties }) as object];
    }),
  );

/** Writes all of them into a folder. */
export const writeSchemas = async (folder: string): Promise<void> => {
  const schemas = [...(await builtInSchemas()), ...customSchemas()];
  await Promise.all(schemas.map(([file, schema]) => writeFile(join(folder, file), JSON.stringify(schema))));
};
