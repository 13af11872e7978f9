import { expect, test } from "vitest";
import { aPod, aSeen, nowMs, type PodOptions, podKinds } from "../../../test/support/seen-pool.ts";
import { planPool } from "./plan.ts";
import { createStartCount } from "./start-count.ts";

/** Rounds in which one pod is seen like this, one after the other; what is counted. */
const counted = (...rounds: PodOptions[]): string[] => {
  const results: string[] = [];
  const starts = createStartCount((result) => results.push(result));
  for (const options of rounds) {
    const seen = aSeen({ pods: [aPod("a", options)] });
    starts.note(seen, planPool(seen, nowMs));
  }
  return results;
};

test.each<[string, PodOptions[], string[]]>([
  ["that comes up is counted once", [podKinds.starting, podKinds.warm, podKinds.idle, podKinds.leased], ["ready"]],
  ["that fails is counted once", [podKinds.starting, podKinds["failed start"], podKinds["failed start"]], ["failed"]],
  ["that takes too long has failed", [podKinds.starting, podKinds.late, podKinds.terminating], ["failed"]],
  ["that was called off is no start", [podKinds.starting, podKinds.terminating], []],
  ["that was seen by another leader is not counted", [podKinds.warm, podKinds.idle], []],
])("a start %s", (_, rounds, results) => {
  expect(counted(...rounds)).toEqual(results);
});

test.each<[string, PodOptions, string[]]>([
  ["is up", podKinds.warm, ["ready"]],
  ["has failed", podKinds["failed start"], ["failed"]],
])(
  "a start that was begun here is counted, also when the first round that sees it finds that it %s",
  (_, kind, results) => {
    const counts: string[] = [];
    const starts = createStartCount((result) => counts.push(result));
    const pod = aPod("a", kind);
    starts.begun(pod.uid);
    const seen = aSeen({ pods: [pod] });
    for (let round = 0; round < 2; round++) starts.note(seen, planPool(seen, nowMs));
    expect(counts).toEqual(results);
  },
);
