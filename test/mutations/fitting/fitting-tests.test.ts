import { expect, test } from "vitest";
import { fittingTests, hitsOfMutation } from "./fitting-tests.ts";

const file = "domain/token-bucket.ts";
const inTake = { file, find: "if (tokens >= 1)" };
const [hit = ""] = hitsOfMutation(inTake);

test("tests fit that run the function around the mistake; unit tests come first, then those that tell most for their time", () => {
  const coverage = {
    "test/slow.test.ts": { seconds: 20, hits: [hit] },
    "test/quick.test.ts": { seconds: 2, hits: [hit] },
    "test/thorough.test.ts": { seconds: 21, hits: [hit, `${file}#loaded`, `${file}#0`] },
    "src/domain/token-bucket.test.ts": { seconds: 4, hits: [hit] },
    "test/other.test.ts": { seconds: 1, hits: [`${file}#loaded`] },
  };
  expect(fittingTests(inTake, coverage)).toEqual([
    "src/domain/token-bucket.test.ts",
    "test/quick.test.ts",
    "test/thorough.test.ts",
    "test/slow.test.ts",
  ]);
});

test("of too many, those are run that run most of the file for their time", () => {
  const all = [hit, `${file}#loaded`, `${file}#0`, `${file}#1`];
  const coverage = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`test/${n}.test.ts`, { seconds: 30 + n, hits: n === 19 ? all : [hit] }]),
  );
  const chosen = fittingTests(inTake, coverage);
  expect(chosen).toContain("test/19.test.ts");
  expect(chosen).toContain("test/0.test.ts");
  expect(chosen.length).toBeLessThan(6);
});

test("a script fits by its own name, what it includes by all that do so, and a page's script by who reads it", () => {
  expect(hitsOfMutation({ file: "leases/scripts/take.lua", find: "" })).toEqual(["lua:take"]);
  expect(hitsOfMutation({ file: "leases/scripts/includes/end-lease.lua", find: "" }).length).toBeGreaterThan(1);
  expect(hitsOfMutation({ file: "fill/in-page/fields.js", find: "" }).length).toBeGreaterThan(1);
  expect(hitsOfMutation({ file, find: "export type Bucket " })).toEqual([`${file}#loaded`]);
});
