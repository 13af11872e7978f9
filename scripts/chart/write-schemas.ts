/**
 * Writes schemas for kubeconform, one file a kind: for Kubernetes' kinds from generated/kubernetes-schemas.json, for
 * our custom resources from their CRDs. The schemas are strict: they refuse a field that they don't name.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kinds } from "../../src/cmd/features.ts";
import { crdOf } from "../../src/platform/kinds/crd.ts";

/**
 * The pattern by which kubeconform finds a kind's file: pass `join(folder, schemaFileTemplate)` as `-schema-location`.
 */
export const schemaFileTemplate = "{{.Group}}_{{.ResourceAPIVersion}}_{{.ResourceKind}}.json";

/** For kinds of the core group, kubeconform puts the version in the place of the group. */
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

/** Refuses unknown fields, because the API server drops fields that a structural schema doesn't name. */
const strict = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([field, part]) => [field, strict(part)]));
  const isOpen = schema.additionalProperties !== undefined || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return schema.properties && !isOpen ? { ...inner, additionalProperties: false } : inner;
};

/** Fields that every object has; its CRD doesn't name them. */
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

/** Writes all schemas into a folder. */
export const writeSchemas = async (folder: string): Promise<void> => {
  const schemas = [...(await builtInSchemas()), ...customSchemas()];
  await Promise.all(schemas.map(([file, schema]) => writeFile(join(folder, file), JSON.stringify(schema))));
};
