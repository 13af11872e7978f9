/** The pure parts of the cluster tests. */
import { describe, expect, test } from "vitest";
import { UsageError } from "../support/command-line.ts";
import type { Phase } from "./lane.ts";
import { readOptions } from "./options.ts";
import { createReport, Skipped, totals } from "./report.ts";
import { phasesToRepeat, unsteadyIn } from "./second-try.ts";
import { kindNameOf } from "./setup/cluster.ts";
import { exportsOf } from "./setup/programs.ts";
import { allPhases, phasesOf, slowPhases } from "./suite/all-phases.ts";
import { TimeOver } from "./time-over.ts";

test("a phase that there is not is a wrong command line", () => {
  expect(readOptions(["--only", "a,b", "--keep"], ["a", "b"])).toMatchObject({ only: ["a", "b"], keep: true });
  expect(() => readOptions(["--only", "a,c"], ["a", "b"])).toThrow(UsageError);
  expect(() => readOptions(["--nope"], [])).toThrow(UsageError);
  expect(readOptions(["--second-try-within", "60"], [])).toMatchObject({ secondTryWithin: 60 });
  expect(() => readOptions(["--second-try-within", "soon"], [])).toThrow(UsageError);
});

test("a draw leaves out slow phases only, each of them is done with some seed, and what is named is done", () => {
  const namesOf = (phases: readonly Phase[]): string[] => phases.map(({ name }) => name);
  expect(phasesOf(undefined, undefined)).toEqual(allPhases);
  const seen = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const chosen = phasesOf(undefined, { oneOf: slowPhases.length, seed: `${seed}` });
    expect(chosen.filter((phase) => !slowPhases.includes(phase))).toHaveLength(allPhases.length - slowPhases.length);
    expect(chosen.length).toBe(allPhases.length - slowPhases.length + 1);
    for (const name of namesOf(chosen)) seen.add(name);
  }
  expect(seen).toEqual(new Set(namesOf(allPhases)));
  expect(namesOf(phasesOf(["memory", "uninstall"], { oneOf: 6, seed: "1" }))).toEqual(["memory", "uninstall"]);
});

test("the environment that a program prints is read, and nothing else that it prints", () => {
  const printed = "ready\nexport KUBECONFIG=/a/kubeconfig\nexport PATH=/a/bin:$PATH   # kind, kubectl\n";
  expect(exportsOf(printed, { PATH: "/usr/bin" })).toEqual({ KUBECONFIG: "/a/kubeconfig", PATH: "/a/bin:/usr/bin" });
});

test("a node's provider tells whether it is kind's", () => {
  expect(kindNameOf("kind://docker/mine/mine-worker")).toBe("mine");
  expect(kindNameOf("aws:///eu-central-1a/i-0")).toBeUndefined();
  expect(kindNameOf(undefined)).toBeUndefined();
});

describe("the report", () => {
  test("counts every check of a phase, whatever fails before it, and a phase that breaks off", async () => {
    const report = createReport(() => undefined);
    await report.phase("first", async (check) => {
      await check("good", async () => "three");
      await check("bad", async () => {
        throw new Error("no");
      });
      await check("good again", async () => undefined);
    });
    await report.phase("broken", () => Promise.reject(new Error("broken")));
    await report.phase("not here", async (check) => {
      await check("any", () => Promise.reject(new Skipped("not here")));
    });
    expect(totals(report.outcomes.phases)).toEqual({ passed: 2, failed: 2, skipped: 1 });
    expect(report.outcomes.phases[0]?.checks).toMatchObject([
      { detail: "three" },
      { error: "no" },
      { name: "good again" },
    ]);
  });

  test("a step that fails ends the run", async () => {
    const lines: string[] = [];
    const report = createReport((line) => lines.push(line));
    expect(await report.step("cluster", async () => [3, "3 nodes"])).toBe(3);
    await expect(report.step("images", () => Promise.reject(new Error("no docker")))).rejects.toThrow("no docker");
    expect(lines.filter((line) => !line.endsWith("…"))).toEqual([
      expect.stringMatching(/^cluster: 3 nodes/),
      expect.stringMatching(/^images: FAILED/),
    ]);
  });
});

describe("a phase is done once more", () => {
  const phase = async (errors: Error[]) => {
    const report = createReport(() => undefined);
    await report.phase("good", async (check) => check("fine", async () => undefined));
    await report.phase("bad", async (check) => {
      for (const error of errors) await check("in time", () => Promise.reject(error));
    });
    return report;
  };
  const late = new TimeOver("not within 60 s: it is gone");

  test("when nothing failed in it but that a time was over, however that is said", async () => {
    for (const error of [late, new Error("exit code 1\nerror: timed out waiting for the condition")]) {
      const report = await phase([error]);
      const before = phasesToRepeat(report.outcomes.phases);
      expect(before.map(({ name }) => name)).toEqual(["bad"]);
      expect(unsteadyIn(before, report.outcomes.phases)).toEqual([]);

      await report.phase("bad", async (check) => check("in time", async () => undefined));
      expect(unsteadyIn(before, report.outcomes.phases)).toEqual([
        { name: "cluster: bad: in time", firstError: error.message },
      ]);
      expect(totals(report.outcomes.phases)).toEqual({ passed: 2, failed: 0, skipped: 0 });
    }
  });

  test("never when anything else failed, in whichever phase", async () => {
    const report = await phase([late, new Error("a lease was lost")]);
    expect(phasesToRepeat(report.outcomes.phases)).toEqual([]);
    await report.phase("late", () => Promise.reject(late));
    expect(phasesToRepeat(report.outcomes.phases)).toEqual([]);
  });
});
