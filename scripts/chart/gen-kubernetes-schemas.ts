/**
 * Makes generated/kubernetes-schemas.json from the OpenAPI document of a Kubernetes release. Run it by hand, when that
 * release changes:
 *
 *   node scripts/chart/gen-kubernetes-schemas.ts "$(cd tools/control-plane && go list -m -f '{{.Dir}}' k8s.io/kubernetes)"
 *
 * The Go module of Kubernetes holds that document, so neither this script nor the check needs the internet.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtInKinds } from "./built-in-kinds.ts";

type Schema = { [field: string]: unknown; properties?: Record<string, Schema>; $ref?: string };
type OpenApi = { definitions: Record<string, Schema & { "x-kubernetes-group-version-kind"?: object[] }> };

const prefix = "#/definitions/";

/** Keeps what a validator needs, and refuses fields that the API doesn't have: an unknown field is a mistake. */
const strict = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Schema;
  if (schema.format === "int-or-string") return { type: ["integer", "string"] };
  return {
    ...Object.fromEntries(
      Object.entries(schema).flatMap(([field, inner]) =>
        field === "description" || field === "default" || field.startsWith("x-")
          ? []
          : [[field, fieldOf(field, inner)]],
      ),
    ),
    ...(schema.properties && { additionalProperties: false }),
  };
};

/** Below `properties` the names are not keywords: one of them is `description`. */
const fieldOf = (field: string, value: unknown): unknown =>
  field === "properties"
    ? Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, strict(inner)]))
    : strict(value);

const referencesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, name]) => name ?? "");

/** The definitions that `names` refer to, directly or not, with `names` themselves. */
const closureOf = (names: string[], definitions: OpenApi["definitions"]): Record<string, unknown> => {
  const found: Record<string, unknown> = {};
  const wanted = [...names];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (name in found) continue;
    const schema = strict(definitions[name]);
    found[name] = schema;
    wanted.push(...referencesIn(schema));
  }
  // A quantity may be written as a number.
  found["io.k8s.apimachinery.pkg.api.resource.Quantity"] = { type: ["string", "number"] };
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
};

const definitionOf = ([group, version, kind]: readonly string[], { definitions }: OpenApi): string => {
  const wanted = JSON.stringify({ group, kind, version });
  const entry = Object.entries(definitions).find(([, schema]) =>
    schema["x-kubernetes-group-version-kind"]?.some((it) => JSON.stringify(it) === wanted),
  );
  if (!entry) throw new Error(`this Kubernetes has no ${kind} in ${group}/${version}`);
  return entry[0];
};

const folder = process.argv[2];
if (!folder) throw new Error("give the folder of the module k8s.io/kubernetes");
const openApi = JSON.parse(await readFile(join(folder, "api/openapi-spec/swagger.json"), "utf8")) as OpenApi;
const kinds = builtInKinds.map((kind) => [kind.join("/"), prefix + definitionOf(kind, openApi)] as const);
const names = kinds.map(([, reference]) => reference.slice(prefix.length));
const result = { kinds: Object.fromEntries(kinds), definitions: closureOf(names, openApi.definitions) };
await writeFile(join(import.meta.dirname, "generated/kubernetes-schemas.json"), `${JSON.stringify(result)}\n`);
