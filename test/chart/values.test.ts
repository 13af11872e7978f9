/** The chart's values: their schema, values.yaml, and what the operator accepts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/generated-file.ts";
import { BrowserPoolSpec } from "../../src/core/model/pools/browser-pool.ts";

const chart = join(root, "charts/browserpool");

type Schema = {
  $ref?: string;
  description?: string;
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
};
type Root = Schema & { $defs: Record<string, Schema>; properties: Record<string, Schema> };

const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as Root;
const values = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as object;

const resolved = (it: Schema): Schema => (it.$ref ? (schema.$defs[it.$ref.replace("#/$defs/", "")] ?? {}) : it);

type Place = { path: string; schema: Schema; value: unknown };

/** Every path of the schema with the value of values.yaml. An object that takes any field has no paths below it. */
const placesOf = (it: Schema, value: unknown, path: string): Place[] =>
  Object.entries(resolved(it).properties ?? {}).flatMap(([name, inner]) => {
    const place = {
      path: `${path}.${name}`,
      schema: inner,
      value: (value as Record<string, unknown> | undefined)?.[name],
    };
    return [place, ...(place.value === undefined ? [] : placesOf(inner, place.value, place.path))];
  });

const places = placesOf(schema, values, "").filter(({ path }) => path !== ".global");

test("values.yaml names every value of the schema", () => {
  // Parts of objects that are empty by default.
  const optional = /\.(resources\.(requests|limits)|regions\.[\w-]+)$/;
  const missing = places.filter(({ value, path }) => value === undefined && !optional.test(path));
  expect(missing.map(({ path }) => path)).toEqual([]);
  expect(places.length).toBeGreaterThan(150);
});

test("every value has a description in the schema, and no object takes an unknown value", () => {
  expect(
    places.filter(({ schema: it }) => !resolved(it).description && !it.description).map(({ path }) => path),
  ).toEqual([]);
  const open = places.filter(({ schema: it }) => {
    const { properties, additionalProperties } = resolved(it);
    return properties !== undefined && additionalProperties !== false;
  });
  expect(open.map(({ path }) => path)).toEqual([]);
});

test("no image of Browserpool has a default name, which a stranger could publish under", () => {
  const { image, browsers } = values as Record<"image" | "browsers", { repository?: string; image?: object }>;
  expect([image.repository, browsers.image]).toEqual(["", expect.objectContaining({ repository: "" })]);
});

test("values can place the pools of every region, and of no other", () => {
  const regions = schema.properties.browsers?.properties?.regions;
  expect(regions?.additionalProperties).toBe(false);
  expect(Object.keys(regions?.properties ?? {})).toEqual(BrowserPoolSpec.shape.region.unwrap().options);
});
