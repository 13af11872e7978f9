import { expect, test } from "vitest";
import { checkStalePlaces } from "./check-stale-places.ts";
import { importRules } from "./import-rules.ts";
import { layers } from "./layers.ts";

test("places that are gone from src/ are gone from the rules", () => {
  const problems = checkStalePlaces(new Map([["kube/client.ts", ""]]));
  expect(problems).toContain("redis is gone, and scripts/architecture/import-rules.ts still names it");
  expect(problems).toContain("services/pools is gone, and scripts/architecture/layers.ts still names it");
  expect(problems).toContain("domain is gone, and scripts/architecture/purity-rules.ts still names it");
  expect(problems.filter((problem) => problem.startsWith("kube "))).toEqual([]);
});

test("every place of the import rules lies in a folder of the layers", () => {
  const known = new Set(layers.flatMap(({ folders }) => folders));
  expect(Object.keys(importRules).filter((place) => !known.has(place.split("/")[0] ?? ""))).toEqual([]);
});
