import { expect, test } from "vitest";
import { fittingTests, hitsOfMutation } from "./fitting-tests.ts";

const file = "domain/token-bucket.ts";
const inTake = { file, find: "if (tokens >= 1)" };
const [hit = ""] = hitsOfMutation(inTake);

const others = (count: number): string[] => Array.from({ length: count }, (_, n) => `http/listen.ts#${n}`);

test("tests fit that run the function around the mistake; unit tests come first, then those that are most about its file", () => {
  const coverage = {
    "test/everything.test.ts": { seconds: 2, hits: [hit, `${file}#loaded`, `${file}#0`, ...others(100)] },
    "test/much.test.ts": { seconds: 2, hits: [hit, ...others(9)] },
    "test/about-it.test.ts": { seconds: 21, hits: [hit, `${file}#loaded`, ...others(5)] },
    "src/domain/token-bucket.test.ts": { seconds: 4, hits: [hit, ...others(20)] },
    "test/other.test.ts": { seconds: 1, hits: [`${file}#loaded`] },
  };
  const chosen = ["test/about-it.test.ts", "test/much.test.ts", "test/everything.test.ts"];
  expect(fittingTests(inTake, coverage)).toEqual(["src/domain/token-bucket.test.ts", ...chosen]);
});

test("of too many, those are run that are most about it; the one that found it last is among them, and the first", () => {
  const coverage = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`test/${n}.test.ts`, { seconds: 30, hits: [hit, ...others(n)] }]),
  );
  expect(fittingTests(inTake, coverage)).toEqual([0, 1, 2, 3].map((n) => `test/${n}.test.ts`));
  expect(fittingTests(inTake, coverage, "test/9.test.ts")).toEqual([9, 0, 1, 2].map((n) => `test/${n}.test.ts`));
});

test("a script fits by its own name, what it includes by all that do so, and a page's script by who reads it", () => {
  expect(hitsOfMutation({ file: "leases/scripts/take.lua", find: "" })).toEqual(["lua:take"]);
  expect(hitsOfMutation({ file: "leases/scripts/includes/end-lease.lua", find: "" }).length).toBeGreaterThan(1);
  expect(hitsOfMutation({ file: "fill/in-page/fields.js", find: "" }).length).toBeGreaterThan(1);
  expect(hitsOfMutation({ file, find: "export type Bucket " })).toEqual([`${file}#loaded`]);
});
