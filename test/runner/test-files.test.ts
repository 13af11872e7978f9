import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relatedTests, testsOfRules } from "./related-tests.ts";
import { drawnSlowTests, quickTests, root, slowTests } from "./test-files.ts";

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** The families of the rules that a text cites. */
const familiesIn = (text: string): string[] =>
  [...text.matchAll(/^\s*\/\/ .*$/gm)].flatMap(([line]) =>
    [...line.matchAll(/\b([A-Z]+(?:-[A-Z]+)*)-\d+\b/g)].map(([, family = ""]) => family),
  );

test("of each family of promises a quick test on real servers shows a rule", () => {
  const families = [...textOf("docs/rules.md").matchAll(/^- \*\*([A-Z-]+)-\d+\*\*/gm)].map(([, family = ""]) => family);
  const onServers = quickTests().filter((file) => file.startsWith("test/"));
  const shown = new Set(onServers.flatMap((file) => familiesIn(textOf(file))));
  expect([...new Set(families)].filter((family) => !shown.has(family))).toEqual([]);
});

test("slow tests are drawn, and each of them sometime; no other ones are", () => {
  const all = slowTests();
  expect(all.length).toBeGreaterThan(20);
  const draw = (oneOf: number, seed: number): string[] => drawnSlowTests({ oneOf, seed: `${seed}` });
  expect(draw(1, 0).toSorted()).toEqual(all);
  expect(draw(4, 0).length).toBeLessThan(all.length / 2);
  expect(new Set(Array.from({ length: 60 }, (_, seed) => draw(4, seed)).flat()).size).toBe(all.length);
  expect(quickTests().filter((file) => all.includes(file))).toEqual([]);
});

test("tests that load a file are found through imports, through programs that they start, and in its place below test", () => {
  const related = relatedTests(["src/core/agent/lease-fence.ts"]);
  expect(related).toContain("src/core/agent/lease-fence.test.ts");
  expect(related).toContain("test/core/agent/lease.test.ts");
  expect(related).not.toContain("src/core/model/pools/fill-pacing.test.ts");
  expect(related).not.toContain("test/core/leases/json-call.test.ts");
});

test("tests of a rule are those that cite it", () => {
  const shown = testsOfRules(["BROWSER-19"]);
  expect(shown).toContain("test/core/agent/browser-settings.slow.test.ts");
  expect(shown).not.toContain("test/core/agent/lease.test.ts");
  expect(() => testsOfRules(["BROWSER-x"])).toThrow("docs/rules.md has no such rule");
});
