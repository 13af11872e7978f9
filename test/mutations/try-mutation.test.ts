import { expect, test } from "vitest";
import type { TestsEnd } from "./run-tests.ts";
import { tryStep } from "./try-mutation.ts";

const [unit, other] = ["src/a.test.ts", "test/b.test.ts"];
const ran = (...failed: { file: string; error: string }[]): TestsEnd => ({
  kind: "ran",
  failed: failed.map((one) => ({ ...one, name: "a test" })),
  seconds: new Map(),
});
const failed = (file: string, error = "AssertionError: no") => ran({ file, error });
const late: TestsEnd = { kind: "late", why: "" };
const found = (file: string, test = "a test") => ({ files: [file], test });

type Ends = { mutated: TestsEnd[]; plain: TestsEnd[] };

/** Runs that end so, one after the other, and then pass. */
const triesWith = (ends: Ends): Parameters<typeof tryStep>[1] => {
  const next = (list: TestsEnd[]) => async () => list.shift() ?? ran();
  const servers = {
    environment: async () => ({}),
    drop: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { mutated: next(ends.mutated), plain: { run: next(ends.plain), servers } };
};

test.each<[what: string, file: string, Ends, expected: object]>([
  ["a unit test that fails", unit, { mutated: [failed(unit)], plain: [] }, { found: "unit", ...found(unit) }],
  ["tests that pass", unit, { mutated: [ran()], plain: [] }, { found: "no", why: "tests pass" }],
  [
    "a unit test that takes too long, and not without it",
    unit,
    { mutated: [failed(unit, "Error: Test timed out in 20000ms.")], plain: [ran()] },
    { found: "unit", ...found(unit) },
  ],
  [
    "a unit test that takes too long without it, too",
    unit,
    { mutated: [failed(unit, "Error: Test timed out in 20000ms.")], plain: [late] },
    { found: "no", why: "unsteady", tests: [`${unit}: a test`] },
  ],
  [
    "a test with servers that fails by what was left on them, and passes on others",
    other,
    { mutated: [failed(other), ran()], plain: [failed(other), ran()] },
    { found: "no", why: "tests pass" },
  ],
  [
    "a test with servers that fails on others, too, and passes there without it",
    other,
    { mutated: [failed(other), failed(other)], plain: [failed(other), ran(), ran()] },
    { found: "integration", ...found(other) },
  ],
  [
    "a test with servers that fails on new ones, too, where it passes without it only once",
    other,
    { mutated: [failed(other), failed(other)], plain: [failed(other), ran(), failed(other), ran()] },
    { found: "integration", ...found(other) },
  ],
  [
    "a test with servers that fails without it, too",
    other,
    { mutated: [failed(other)], plain: [failed(other), failed(other)] },
    { found: "no", why: "unsteady", tests: [`${other}: a test`] },
  ],
  [
    "tests that come to an end only without it",
    other,
    { mutated: [late], plain: [ran()] },
    { found: "integration", ...found(other, "(all of them)") },
  ],
  [
    "tests that come to no end in any case",
    other,
    { mutated: [late], plain: [late, late] },
    { found: "no", why: "time is over" },
  ],
])("%s", async (_, file, ends, expected) => {
  expect(await tryStep({ files: [file] }, triesWith(ends))).toMatchObject(expected);
});

test("each file that fails by what was left on the servers is tried on new ones", async () => {
  const third = "test/c.test.ts";
  const mutated = [failed(other), failed(third), ran()];
  const plain = [failed(other), ran(), failed(third), ran()];
  const tried = await tryStep({ files: [other, third] }, triesWith({ mutated, plain }));
  expect(tried).toEqual({ found: "no", why: "tests pass" });
});
