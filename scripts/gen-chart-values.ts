/** Makes the table of values in charts/browserpool/README.md from the comments of values.yaml and from the schema. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";
import { chartFolder } from "./chart/render-chart.ts";
import { generateParts, table } from "./marked-part.ts";

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: string[];
  description?: string;
  properties?: Record<string, Schema>;
};
type Root = Schema & { $defs: Record<string, Schema> };

/** Defaults above this length are left to values.yaml. */
const longestDefault = 60;

/** A comment as one line of Markdown, in which `<` would begin HTML. */
const lineOf = (comment: string): string =>
  comment
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll("<", "&lt;")
    .trim();

const typeOf = ({ type, enum: options }: Schema): string =>
  options ? options.map((it) => JSON.stringify(it)).join(", ") : [type ?? []].flat().join(" or ");

const defaultOf = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > longestDefault ? "in values.yaml" : `\`${text}\``;
};

/** The comment above an entry. That above the first entry of a map belongs to the map. */
const commentOf = (map: YAMLMap, pair: Pair): string => {
  const own = isScalar(pair.key) ? pair.key.commentBefore : undefined;
  return lineOf(own ?? (map.items[0] === pair ? map.commentBefore : undefined) ?? "");
};

const rowsOf = (map: YAMLMap, schema: Schema, root: Root, path: string): string[][] =>
  map.items.flatMap((pair) => {
    const name = String(pair.key);
    const place = path ? `${path}.${name}` : name;
    const own = schema.properties?.[name] ?? {};
    const resolved = { ...root.$defs[own.$ref?.replace("#/$defs/", "") ?? ""], ...own };
    const comment = commentOf(map, pair);
    const { value } = pair;
    // What Kubernetes describes, such as resources, is one value.
    if (isMap(value) && resolved.properties && own.$ref !== "#/$defs/resources")
      return [
        ...(comment ? [[`**\`${place}\`**`, "", "", comment]] : []),
        ...rowsOf(value as YAMLMap, resolved, root, place),
      ];
    const json: unknown = isMap(value) || !isScalar(value) ? (value as YAMLMap | null)?.toJSON() : value.value;
    return [[`\`${place}\``, typeOf(resolved), defaultOf(json), comment || lineOf(resolved.description ?? "")]];
  });

/** Writes the table, or with `check` compares it. Returns what it wrote. Throws an Error when it is stale. */
export const generateChartValues = async (options: { check: boolean }): Promise<string> => {
  const read = (file: string): Promise<string> => readFile(join(chartFolder, file), "utf8");
  const values = parseDocument(await read("values.yaml")).contents;
  if (!isMap(values)) throw new Error("values.yaml is no map");
  const schema = JSON.parse(await read("values.schema.json")) as Root;
  const rows = rowsOf(values as YAMLMap, schema, schema, "");
  return generateParts(
    "charts/browserpool/README.md",
    { values: table(["Value", "Type", "Default", "Meaning"], rows) },
    options,
  );
};
