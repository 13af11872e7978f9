import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { demoSpec } from "./demo-pool.ts";

test("the pool of newcomers is that of the sample, which they may apply as well", async () => {
  const sample = parse(await readFile(join(import.meta.dirname, "../../manifests/samples/pool.yaml"), "utf8"));
  expect(sample).toMatchObject({ metadata: { name: "demo" }, spec: demoSpec });
  expect(Object.keys(sample.spec)).toHaveLength(Object.keys(demoSpec).length);
});
