/** What `.ci/run` forgives, and what it does not. */
import { expect, test } from "vitest";
import { makeSandbox } from "./sandbox.ts";

/** A test file; `fails` is what its test does in each try, by the number of the try from 1 on. */
const testFile = (name: string, fails: string): string => `
  import { appendFileSync, readFileSync } from "node:fs";
  import { test } from "vitest";
  test(${JSON.stringify(name)}, () => {
    const file = "tries-" + ${JSON.stringify(name)};
    appendFileSync(file, ".");
    const attempt = readFileSync(file, "utf8").length;
    ${fails}
  });
`;
const failsUntil = (attempt: number): string =>
  `if (attempt < ${attempt}) throw new Error("no luck\\nat try " + attempt);`;

const callsOf = (calls: string[], name: string): number => calls.filter((call) => call.includes(name)).length;

test("a run in which all is well says how long each stage took, and ends with its totals", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.write("good.test.mjs", testFile("good", ""));
  await sandbox.write("one.slow.test.mjs", testFile("other", ""));
  const { code, output, lastLine, calls } = await sandbox.run();
  expect([code, lastLine]).toEqual([0, "2 passed, 0 failed, 0 skipped"]);
  const stages = ["set-up", "check", "tests", "slow", "openapi", "fuzz", "mutations", "robustness", "cluster"];
  const times = [...output.matchAll(/^ {2}([\w-]+): \d+ s of \d+$/gm)].map(([, stage]) => stage);
  expect(times).toEqual(stages);
  expect(output).not.toContain("unsteady");
  for (const name of [
    "run check",
    "run test:openapi",
    "run test:fuzz",
    "run test:mutations",
    "run test:robustness",
    "run test:cluster",
  ])
    expect(callsOf(calls, name)).toBe(1);
});

test("a test that passes at its second try, or in its file's second run, passes and is listed with its first error", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.write("once.test.mjs", testFile("fails once", failsUntil(2)));
  await sandbox.write("twice.test.mjs", testFile("fails twice", failsUntil(3)));
  await sandbox.write(
    "loads.test.mjs",
    `import { existsSync, writeFileSync } from "node:fs";
    const isFirst = !existsSync("loaded");
    writeFileSync("loaded", "");
    if (isFirst) throw new Error("can't be loaded");
    ${testFile("good", "")}`,
  );
  const { code, output, lastLine } = await sandbox.run("tests");
  expect(output).toContain("unsteady, passed at a second try only (3):");
  for (const name of ["once.test.mjs: fails once", "twice.test.mjs: fails twice"])
    expect(output).toContain(`  ${name}\n    Error: no luck\n    at try 1\n`);
  expect(output).toContain("  loads.test.mjs\n    can't be loaded\n");
  expect(output).toMatch(/^once more: .*twice.test.mjs/m);
  expect([code, lastLine]).toEqual([0, "3 passed, 0 failed, 0 skipped"]);
});

test("a share of the slow tests is drawn by a seed that the run says, and a file that runs once more is not drawn again", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.write("good.test.mjs", testFile("good", ""));
  await sandbox.write("one.slow.test.mjs", testFile("fails twice", failsUntil(3)));
  const { code, output, lastLine, calls } = await sandbox.run("tests", "slow");
  const [, seed] = /^of the slow tests one of 8, drawn with DRAW_SEED=(\d+)$/m.exec(output) ?? [];
  const asked = calls.map((call) => /--slow-of.*|\S+.test.mjs/.exec(call)?.[0]);
  expect([code, lastLine, asked]).toEqual([
    0,
    "2 passed, 0 failed, 0 skipped",
    [undefined, `--slow-of 8 --seed ${seed}`, "one.slow.test.mjs"],
  ]);
});

test("a test that fails always fails the run", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.write("always.test.mjs", testFile("fails always", failsUntil(99)));
  await sandbox.write("good.test.mjs", testFile("good", ""));
  const { code, output, lastLine } = await sandbox.run("tests");
  expect([code, lastLine]).toEqual([1, "1 passed, 1 failed, 0 skipped"]);
  expect(output).toContain("failed stages: tests\n");
  expect(output).toContain("failed again: fails always\n");
  expect(output).not.toContain("unsteady");
});

test("answers that the API's document does not allow fail the run, which goes on, and are not asked for twice", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.codes("test:openapi", 1);
  const { code, output, calls } = await sandbox.run("openapi", "robustness");
  expect(code).toBe(1);
  expect(output).toContain("failed stages: openapi\n");
  expect([callsOf(calls, "run test:openapi"), callsOf(calls, "run test:robustness")]).toEqual([1, 1]);
});

test("an input that finds something fails the run, which goes on, and is not looked for twice", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.codes("test:fuzz", 1);
  const { code, output, calls } = await sandbox.run("fuzz", "robustness");
  expect(code).toBe(1);
  expect(output).toContain("failed stages: fuzz\n");
  expect([callsOf(calls, "run test:fuzz -- --short"), callsOf(calls, "run test:robustness")]).toEqual([1, 1]);
});

test("a mistake that its tests do not notice fails the run, which goes on", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.codes("test:mutations", 1);
  const { code, output, calls } = await sandbox.run("mutations", "robustness");
  expect(code).toBe(1);
  expect(output).toContain("failed stages: mutations\n");
  expect([callsOf(calls, "run test:mutations -- --sample 5"), callsOf(calls, "run test:robustness")]).toEqual([1, 1]);
});

test("eleven unsteady tests fail the run, though each has passed", async () => {
  await using sandbox = await makeSandbox();
  const names = Array.from({ length: 11 }, (_, place) => `test ${place}`);
  const files = names.map((name) => `{ ${testFile(name, failsUntil(2)).replaceAll(/^\s*import .*$/gm, "")} }`);
  const imports = 'import { appendFileSync, readFileSync } from "node:fs"; import { test } from "vitest";';
  await sandbox.write("eleven.test.mjs", `${imports}\n${files.join("\n")}`);
  const { code, output, lastLine } = await sandbox.run("tests");
  expect(output).toContain("unsteady, passed at a second try only (11):");
  expect(output).toContain("more than 10 are unsteady: the run fails\n");
  expect([code, lastLine]).toEqual([1, "11 passed, 0 failed, 0 skipped"]);
});

test("the eleventh failed test ends its stage, without a second try", async () => {
  await using sandbox = await makeSandbox();
  const body = "async () => { await sleep(100); throw new Error('always'); }";
  const tests = Array.from({ length: 30 }, (_, place) => `test("test ${place}", ${body});`);
  const imports = 'import { test } from "vitest"; import { setTimeout as sleep } from "node:timers/promises";';
  await sandbox.write("all.test.mjs", `${imports}\n${tests.join("\n")}`);
  const { code, output, lastLine } = await sandbox.run("tests", "openapi");
  expect(output).toContain("more than 10 tests failed: no second try\n");
  expect(output).toContain("failed stages: tests\n");
  expect(output).toMatch(/^ {2}openapi: /m);
  expect([code, lastLine]).toEqual([1, expect.stringMatching(/^0 passed, 1\d failed, 1\d skipped$/)]);
});

test("tests that do not come to their end fail the run, which has its last line all the same", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.write("good.test.mjs", testFile("good", ""));
  await sandbox.write("vitest.config.mjs", 'throw new Error("no tests today");');
  const { code, lastLine } = await sandbox.run("tests");
  expect([code, lastLine]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});

test("an error that no test caught fails the run, also when a failed file beside it passes the second time", async () => {
  await using sandbox = await makeSandbox();
  const stray = 'if (attempt === 1) void Promise.reject(new Error("stray"));';
  await sandbox.write("stray.test.mjs", testFile("leaves a rejection", stray));
  await sandbox.write("twice.test.mjs", testFile("fails twice", failsUntil(3)));
  const { code, output, lastLine } = await sandbox.run("tests");
  expect(output).toContain("not caught by any test: Error: stray\n");
  expect([code, lastLine]).toEqual([1, "2 passed, 1 failed, 0 skipped"]);
});

test("a violation of safety fails the run at once: it has no second try, and no cluster tests follow", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.codes("test:robustness", 3);
  const { code, output, calls } = await sandbox.run("robustness", "cluster");
  expect(code).toBe(1);
  expect(callsOf(calls, "test:robustness")).toBe(1);
  expect(output).toContain("the run fails at once");
  expect(output).not.toContain("  cluster: ");
  expect(output).toContain("failed stages: robustness\n");
});

test("robustness tests of which a part broke off run once more; those that found something do not", async () => {
  for (const [codes, tries, expected] of [
    [[4], 2, 0],
    [[4, 4], 2, 1],
    [[4, 3], 2, 1],
    [[1], 1, 1],
  ] as const) {
    await using sandbox = await makeSandbox();
    await sandbox.codes("test:robustness", ...codes);
    const { code, calls } = await sandbox.run("robustness");
    expect({ codes, tries: callsOf(calls, "test:robustness"), code }).toEqual({ codes, tries, code: expected });
  }
});

test("the cluster tests and the check are not tried again from here", async () => {
  await using sandbox = await makeSandbox();
  await sandbox.codes("test:cluster", 1);
  await sandbox.codes("check", 1);
  const { code, output, calls } = await sandbox.run("check", "cluster");
  expect(code).toBe(1);
  expect(output).toContain("failed stages: check cluster\n");
  expect([callsOf(calls, "test:cluster"), callsOf(calls, "run check")]).toEqual([1, 1]);
});

test("what the other stages say to be unsteady is listed too", async () => {
  await using sandbox = await makeSandbox();
  const unsteady = [{ name: "robustness: comes-to-rest with seed 7", firstError: "needed 31000 ms" }];
  const write = `mkdir -p .browserpool/robustness; echo '${JSON.stringify({ unsteady })}' >.browserpool/robustness/summary.json`;
  await sandbox.write("bin/npm", `#!/bin/sh\n${write}\n`);
  const { code, output } = await sandbox.run("robustness");
  expect(code).toBe(0);
  expect(output).toContain("  robustness: comes-to-rest with seed 7\n    needed 31000 ms\n");
});
