import { expect, test } from "vitest";
import { fittingTests } from "./fitting-tests.ts";
import { hitsOfMutation } from "./hits.ts";

const file = "platform/rules/token-bucket.ts";
const inTake = { file, find: "if (tokens >= 1)", replace: "if (tokens > 1)" };
const [hit = ""] = hitsOfMutation(inTake);

const others = (count: number): string[] => Array.from({ length: count }, (_, n) => `http/listen.ts#${n}`);
const measured = (seconds: number, ...hits: string[]) => ({ digest: "", seconds, hits });
const unitTest = "src/platform/rules/token-bucket.test.ts";

test("tests fit that run the function around the mistake, those first that are most about its file", () => {
  const coverage = {
    "test/everything.test.ts": measured(2, hit, `${file}#loaded`, `${file}#0`, ...others(100)),
    "test/much.test.ts": measured(2, hit, ...others(9)),
    "test/about-it.test.ts": measured(21, hit, `${file}#loaded`, ...others(5)),
    [unitTest]: measured(4, hit, ...others(20)),
    "test/other.test.ts": measured(1, `${file}#loaded`),
  };
  expect(fittingTests(inTake, { coverage, tests: [unitTest], budgetSeconds: 60 })).toEqual({
    unit: [unitTest],
    others: ["test/about-it.test.ts", "test/much.test.ts", "test/everything.test.ts"],
    seconds: 25,
  });
  const changed = { ...inTake, file: "core/model/pools/fill-pacing.ts" };
  const ofFile = { "test/a.test.ts": measured(1, `${changed.file}#before`), "test/b.test.ts": measured(1, hit) };
  expect(fittingTests(changed, { coverage: ofFile, tests: [], budgetSeconds: 60 }).others).toEqual(["test/a.test.ts"]);
});

test("as many run as the budget has room for, without one unit tests alone, and always the shortest", () => {
  const coverage = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`test/${n}.test.ts`, measured(28 + n / 100, hit, ...others(n))]),
  );
  const of = (budgetSeconds: number) => fittingTests(inTake, { coverage, tests: [], budgetSeconds }).others;
  expect(of(100)).toEqual([0, 1, 2].map((n) => `test/${n}.test.ts`));
  expect(of(10)).toEqual(["test/0.test.ts"]);
  expect(of(0)).toEqual([]);
});

test("a unit test that was not measured fits by what it imports, the nearest first", () => {
  const tests = ["src/core/config/config.test.ts", "src/core/projects/caller-limits.test.ts", unitTest];
  const { unit } = fittingTests(inTake, { coverage: {}, tests, budgetSeconds: 60 });
  expect(unit[0]).toBe(unitTest);
  expect(unit).not.toContain("src/core/config/config.test.ts");
});

test("a script fits by its own name, what it includes by all that do so, and a page's script by what reads it", () => {
  const hitsOf = (path: string, find = "") => hitsOfMutation({ file: path, find, replace: "" });
  expect(hitsOf("core/leases/scripts/take.lua")).toEqual(["lua:take"]);
  expect(hitsOf("core/leases/scripts/includes/end-lease.lua").length).toBeGreaterThan(1);
  expect(hitsOf("features/vaults/fill/in-page/fields.js").length).toBeGreaterThan(1);
  expect(hitsOf(file, "export type Bucket ")).toEqual([`${file}#loaded`]);
});
