import { expect, test } from "vitest";
import { anObserved, aPod, nowMs, type PodOptions, podKinds } from "../../../../test/support/observed-pool.ts";
import { planPool } from "../plan/plan.ts";
import { createStartCount } from "./start-count.ts";

/** What is counted of one pod that rounds see like this, one after the other. `isBegun`: it was made here. */
const counted = (rounds: PodOptions[], { isBegun = false } = {}): string[] => {
  const results: string[] = [];
  const starts = createStartCount((result) => results.push(result));
  if (isBegun) starts.begun(aPod("a", podKinds.starting).uid);
  for (const options of rounds) {
    const observed = anObserved({ pods: [aPod("a", options)] });
    starts.note(observed, planPool(observed, nowMs));
  }
  return results;
};

test.each<[string, PodOptions[], string[]]>([
  ["that comes up is counted once", [podKinds.starting, podKinds.warm, podKinds.idle, podKinds.leased], ["ready"]],
  ["that fails is counted once", [podKinds.starting, podKinds["failed start"], podKinds["failed start"]], ["failed"]],
  ["that takes too long has failed", [podKinds.starting, podKinds.late, podKinds.terminating], ["failed"]],
  ["that was called off is no start", [podKinds.starting, podKinds.terminating], []],
  ["that was observed by another leader is not counted", [podKinds.warm, podKinds.idle], []],
])("a start %s", (_, rounds, results) => {
  expect(counted(rounds)).toEqual(results);
});

test.each<[string, PodOptions, string[]]>([
  ["is up", podKinds.warm, ["ready"]],
  ["has failed", podKinds["failed start"], ["failed"]],
])(
  "a start that was begun here is counted, also when the first round that sees it finds that it %s",
  (_, kind, results) => {
    expect(counted([kind, kind], { isBegun: true })).toEqual(results);
  },
);
