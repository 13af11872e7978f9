import { expect, test } from "vitest";
import { inputOf } from "./cases.ts";
import { target as faulty } from "./faulty/faulty-target.ts";
import { type RunTargetOptions, runTarget } from "./run-target.ts";

const run = (name: string, more: Partial<RunTargetOptions> = {}) =>
  runTarget({
    target: name,
    module: new URL(`faulty/${name}-target.ts`, import.meta.url).href,
    seed: 5,
    cases: 2000,
    seconds: 60,
    only: undefined,
    signal: AbortSignal.timeout(60_000),
    ...more,
  });

test("a property that does not hold and an error that nobody catches are found, each once and small; the same seed finds them again", async () => {
  const [first, again] = [await run("faulty"), await run("faulty")];
  expect(first.findings.map(({ error }) => error.split("\n", 1)[0])).toEqual(
    expect.arrayContaining([expect.stringContaining("large"), expect.stringContaining("nobody waits for this")]),
  );
  expect(first.findings).toHaveLength(2);
  const broken = first.findings.find(({ error }) => error.includes("large"));
  expect(broken).toMatchObject({ input: "{ number: 9000 }", seed: 5, kind: "broke" });
  const numbers = (result: typeof first) =>
    result.findings.filter(({ kind }) => kind === "broke").map((one) => one.number);
  expect(numbers(again)).toEqual(numbers(first));
  const alone = await run("faulty", { only: broken?.number });
  expect(alone).toMatchObject({ cases: 1, findings: [{ number: broken?.number }] });
  expect(inputOf(faulty.inputs, 5, broken?.number ?? 0).number).toBeGreaterThanOrEqual(9000);
});

test.each(["endless", "waiting"])("a case that does not end is found, and the run broken off: %s", async (name) => {
  const result = await run(name, { hangMs: 1500 });
  expect(result).toMatchObject({ isBrokenOff: true, findings: [{ kind: "hangs", target: name }] });
  expect(Number(result.findings[0]?.input)).toBeGreaterThan(990);
});
