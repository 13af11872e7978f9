import { describe, expect, test } from "vitest";
import {
  anObserved,
  aPool,
  nowMs,
  type ObservedOptions,
  type PodKind,
  podsOf,
} from "../../../../test/support/observed-pool.ts";
import { BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import { poolStatus, type RoundOutcome } from "./status.ts";

const statusOf = (observed: ObservedOptions, outcome: Partial<RoundOutcome> = {}): BrowserPoolStatus =>
  poolStatus(anObserved(observed), { nowMs, failedStarts: 0, nextStartTime: undefined, ...outcome });
const conditionOf = (observed: ObservedOptions, type: string, outcome?: Partial<RoundOutcome>): string => {
  const { status, reason } = statusOf(observed, outcome).conditions.find((condition) => condition.type === type) ?? {};
  return `${status} ${reason}`;
};
const refusal = { reason: "NameTaken", message: "another pool has it" } as const;

test("every kind of browser is counted where it belongs", () => {
  const kinds: PodKind[] = [
    "idle",
    "outdated",
    "leased",
    "releasing",
    "starting",
    "warm",
    "unready idle",
    "unready leased",
  ];
  const gone: PodKind[] = ["retired", "failed start", "terminating", "crashed leased"];
  expect(statusOf({ pods: podsOf(...kinds, ...gone), leases: { waiting: 4 } })).toMatchObject({
    replicas: 9,
    available: 2,
    acquired: 3,
    starting: 2,
    outdated: 1,
    waiting: 4,
    selector: "browserpool.dev/pool=pool-uid",
  });
});

test("browsers of an earlier image or template are counted, in use or not, as long as they live", () => {
  expect(statusOf({ pods: podsOf("old idle", "old leased", "idle", "leased") }).outdatedPods).toBe(2);
});

const refusedCreation = { message: "exceeded quota", isShown: true, nextMs: nowMs + 1000, mayExist: false };

// FILL-RATE-10
test("what Chromium refuses is told while starts fail, and no longer once the configuration has changed", () => {
  const { conditions } = statusOf({ pods: podsOf("setup refused") }, { failedStarts: 1 });
  const later = (generation: number) => {
    const pool = aPool({ size: 1 }, { conditions, failedStarts: 1 }, { generation });
    return conditionOf({ pool, pods: [] }, "Ready", { failedStarts: 1 });
  };
  const { observedGeneration = 0 } = conditions[0] ?? {};
  expect(later(observedGeneration)).toBe("False SetupRefused");
  expect(later(observedGeneration + 1)).toBe("False Filling");
  const mended = aPool({ size: 1 }, { conditions, failedStarts: 1 }, { generation: observedGeneration });
  expect(conditionOf({ pool: mended, pods: [] }, "Ready", { failedStarts: 0 })).toBe("False Filling");
});

describe("conditions", () => {
  const pool = aPool({ size: 2 });
  const deleted = aPool({}, {}, { deletionTimestamp: "2030-01-01T00:00:00Z" });
  const paused = aPool({ size: 2, fillRatePerMinute: 0 });
  test.each<[string, ObservedOptions, Partial<RoundOutcome>, Record<string, string>]>([
    [
      "as many up as wanted",
      { pool, pods: podsOf("idle", "leased") },
      {},
      { Accepted: "True Accepted", Ready: "True Filled", Progressing: "False Filled" },
    ],
    [
      "a browser that is given back counts as up",
      { pool: aPool({ size: 1 }), pods: podsOf("releasing") },
      {},
      { Accepted: "True Accepted", Ready: "True Filled", Progressing: "False Filled" },
    ],
    [
      "fewer up",
      { pool, pods: podsOf("idle", "starting") },
      {},
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "True Filling" },
    ],
    [
      "starts fail",
      { pool },
      { failedStarts: 1 },
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "True BackingOff" },
    ],
    [
      "Chromium refuses the setup",
      { pool, pods: podsOf("setup refused") },
      { failedStarts: 1 },
      { Accepted: "True Accepted", Ready: "False SetupRefused", Progressing: "True SetupRefused" },
    ],
    [
      "Chromium refused the setup of a configuration before",
      { pool, pods: podsOf("old setup refused") },
      { failedStarts: 1 },
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "True BackingOff" },
    ],
    [
      "filling is paused",
      { pool: paused },
      {},
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "False Paused" },
    ],
    [
      "refused from the beginning",
      { pool: aPool({ size: 2 }, { acceptedSize: undefined }), refusal },
      {},
      { Accepted: "False NameTaken", Ready: "False NameTaken", Progressing: "False NameTaken" },
    ],
    [
      "refused later",
      { pool: aPool({ size: 2 }, { acceptedSize: 1 }), refusal, pods: podsOf("idle") },
      {},
      { Accepted: "False NameTaken", Ready: "False NameTaken", Progressing: "False NameTaken" },
    ],
    [
      "the API server refuses pods",
      { pool, refusedCreation, pods: podsOf("idle") },
      {},
      { Accepted: "True Accepted", Ready: "False FailedCreate", Progressing: "True FailedCreate" },
    ],
    [
      "the API server may have refused a pod",
      { pool, refusedCreation: { ...refusedCreation, isShown: false } },
      {},
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "True Filling" },
    ],
    [
      "waiting for its namespace",
      { pool, waitsFor: "a policy" },
      {},
      { Accepted: "True Accepted", Ready: "False Filling", Progressing: "True WaitingForProject" },
    ],
    [
      "deleted",
      { pool: deleted },
      {},
      { Accepted: "True Accepted", Ready: "False Deleting", Progressing: "True Draining" },
    ],
  ])("%s", (_, observed, outcome, wanted) => {
    for (const [type, condition] of Object.entries(wanted))
      expect(conditionOf(observed, type, outcome)).toBe(condition);
  });

  // POOL-31
  test("a spec that is refused later is named, and what runs on", () => {
    const refused = { pool: aPool({ size: 2 }, { acceptedSize: 1 }), refusal, pods: podsOf("idle") };
    const { message } = statusOf(refused).conditions.find(({ type }) => type === "Ready") ?? {};
    expect(message).toBe(`${refusal.message}; 1 of 1 browser up with the configuration that was accepted last`);
  });

  // GITOPS-2
  test("Reconciling is there while a pool that is not ready fills, and no longer", () => {
    const reconciling = (given: Parameters<typeof statusOf>[0]) =>
      statusOf(given).conditions.find(({ type }) => type === "Reconciling");
    expect(reconciling({ pool, pods: podsOf("idle") })).toMatchObject({ status: "True", reason: "Filling" });
    expect(reconciling({ pool, refusedCreation })).toMatchObject({ status: "True", reason: "FailedCreate" });
    for (const given of [
      { pool: paused },
      { pool: deleted },
      { pool, refusal },
      { pool, pods: podsOf("idle", "idle") },
    ])
      expect(reconciling(given)).toBeUndefined();
  });

  test("a deletion says what it waits for and how to end it", () => {
    const messageOf = (...kinds: PodKind[]): string | undefined =>
      statusOf({ pool: deleted, pods: podsOf(...kinds) }).conditions.find(({ type }) => type === "Progressing")
        ?.message;
    expect(messageOf("leased", "idle")).toBe(
      "waiting for 1 browser in use; annotate browserpool.dev/force-delete=true to end them at once",
    );
    expect(messageOf("idle")).toBe("destroying the browsers");
  });

  test("keep their transition time while their status stays, also with another reason", () => {
    const earlier = statusOf({ pool });
    const later = { nowMs: nowMs + 60_000 };
    const transition = (status: BrowserPoolStatus) =>
      status.conditions.map(({ lastTransitionTime }) => lastTransitionTime);
    const same = statusOf({ pool: { ...pool, status: earlier } }, { ...later, failedStarts: 1 });
    expect(transition(same)).toEqual(transition(earlier));
    const filled = statusOf({ pool: { ...pool, status: earlier }, pods: podsOf("idle", "idle") }, later);
    expect(transition(filled)).toEqual([transition(earlier)[0], "2030-01-01T00:01:00Z", "2030-01-01T00:01:00Z"]);
  });
});

test("the same round gives the same status, so that a quiet pool is never written", () => {
  const observed = { pool: aPool({ size: 2 }), pods: podsOf("idle", "leased") };
  const first = statusOf(observed);
  const again = statusOf({ ...observed, pool: { ...observed.pool, status: first } }, { nowMs: nowMs + 30_000 });
  expect(again).toEqual(first);
});

test("it is what the schema takes", () => {
  const status = statusOf({ pool: aPool({ discardIdle: "t" }) }, { nextStartTime: new Date(nowMs).toISOString() });
  expect(BrowserPoolStatus.parse(status)).toEqual(status);
});
