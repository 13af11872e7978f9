import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { areaOf, folders, riskOf } from "./areas.ts";
import { productSources } from "./fresh/draw.ts";
import { root } from "./tree.ts";

test("every file has an area, and every folder of the table is there", () => {
  for (const file of productSources().keys()) expect([areaOf(file), riskOf(file)], file).not.toContain(undefined);
  expect(folders.filter(([folder]) => !existsSync(join(root, "src", folder)))).toEqual([]);
});

test("the longest folder counts", () => {
  expect([areaOf("core/api/pools.ts"), riskOf("core/api/pools.ts")]).toEqual(["http", 1]);
  expect([areaOf("features/vaults/items/put-item.ts"), riskOf("features/vaults/items/put-item.ts")]).toEqual([
    "secrets",
    4,
  ]);
  expect(() => areaOf("nowhere/file.ts")).toThrow(/nowhere\/file.ts has no area/);
});
