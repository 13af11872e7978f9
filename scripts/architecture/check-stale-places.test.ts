import { expect, test } from "vitest";
import { checkStalePlaces } from "./check-stale-places.ts";

test("places that are gone from src/ are gone from the rules", () => {
  const problems = checkStalePlaces(new Map([["platform/kube/client.ts", ""]]));
  expect(problems).toContain("platform/redis is gone, and scripts/architecture/import-rules.ts still names it");
  expect(problems).toContain("features is gone, and scripts/architecture/layers.ts still names it");
  expect(problems).toContain("core/model is gone, and scripts/architecture/purity-rules.ts still names it");
  expect(problems.filter((problem) => problem.startsWith("platform/kube "))).toEqual([]);
});
