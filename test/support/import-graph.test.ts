import { expect, test } from "vitest";
import { knownTo, loadedBy } from "./import-graph.ts";

test("a file loads what it imports, and what that imports; of types it knows", () => {
  const loaded = loadedBy("test/support/import-graph.ts");
  expect(loaded.get("test/support/import-graph.ts")).toBe(0);
  expect(loaded.get("scripts/architecture/imports.ts")).toBe(1);
  expect(loaded.get("scripts/architecture/parse-source.ts")).toBe(2);
  const kind = "test/mutations/fresh/kinds/condition.ts";
  const ofTypes = "scripts/architecture/parse-source.ts";
  expect([loadedBy(kind).has(ofTypes), knownTo(kind).get(ofTypes)]).toEqual([false, 1]);
});
