import { expect, test } from "vitest";
import { endOf } from "./run-tests.ts";

const report = (name: string, status: string, tests: string[], message = "") => ({
  name: `/tree/${name}`,
  status,
  message,
  startTime: 1000,
  endTime: 3000,
  assertionResults: tests.map((state, n) => ({
    status: state,
    fullName: `test ${n}`,
    ...(state === "failed" && { failureMessages: ["Error: no\n  at x"] }),
  })),
});
const failedOf = (success: boolean, ...testResults: ReturnType<typeof report>[]) => {
  const end = endOf({ success, testResults }, "/tree");
  return end.kind === "ran" ? end.failed.map(({ file, name, error }) => [file, name, error]) : end.kind;
};
const good = report("good.test.ts", "passed", ["passed"]);

test("what has failed is a test, a file that can't begin, or an error that no test caught", () => {
  expect(failedOf(true, good)).toEqual([]);
  expect(failedOf(false, good, report("a.test.ts", "failed", ["passed", "failed"]))).toEqual([
    ["a.test.ts", "test 1", "Error: no"],
  ]);
  expect(failedOf(false, report("a.test.ts", "failed", [], "can't begin\n at x"))).toEqual([
    ["a.test.ts", "(the file itself)", "can't begin"],
  ]);
  expect(failedOf(false, good, report("a.test.ts", "failed", ["passed", "pending"]))).toEqual([
    ["a.test.ts", "(outside of its tests)", "an error that no test caught"],
  ]);
});

test("a file that was broken off since another one had failed says nothing", () => {
  const [failed, brokenOff] = [report("a.test.ts", "failed", ["failed"]), report("b.test.ts", "failed", ["pending"])];
  expect(failedOf(false, failed, brokenOff)).toEqual([["a.test.ts", "test 0", "Error: no"]]);
});
