import { describe, expect, test } from "vitest";
import { anObserved, aPod, nowMs, type ObservedOptions, podKinds } from "../../../../test/support/observed-pool.ts";
import type { EndedLease } from "../../leases/records.ts";
import { type Browser, BrowserSpec, type BrowserStatus } from "../../model/browsers/browser.ts";
import { planPool } from "../plan/plan.ts";
import { onDemandView } from "./browser-as-pool.ts";

const aBrowser = (status?: Partial<BrowserStatus>, more: Partial<Browser["metadata"]> = {}): Browser => ({
  metadata: { name: "one", namespace: "project", uid: "uid", resourceVersion: "1", generation: 1, ...more },
  spec: BrowserSpec.parse({ headless: true }),
  ...(status && { status: { phase: "Starting", conditions: [], leaseEpoch: 1, ...status } }),
});

/** One round: what is done, and the status after it. */
const round = (browser: Browser, observed: ObservedOptions = {}) => {
  const given = anObserved({ pool: onDemandView.toPool(browser), ...observed });
  const { actions, status } = planPool(given, nowMs);
  return { does: actions.map((action) => action.do), status: onDemandView.withStatus(browser, status, given).status };
};

const starting = aPod("a", podKinds.starting);
const leased = aPod("a", podKinds.leased);
const ended = (message: string) => aPod("a", { state: { is: "ended", reason: "start_failed", message } });
const endedLease = { session: "one", reason: "timeout", ended_at: nowMs - 5 } as EndedLease;

describe("an on-demand browser", () => {
  test("begins its leases, then starts once, at once", () => {
    expect(round(aBrowser())).toMatchObject({ does: ["raise"], status: { phase: "Starting", leaseEpoch: 2 } });
    expect(round(aBrowser({})).does).toEqual(["create"]);
    expect(round(aBrowser({}), { pods: [starting] })).toMatchObject({ does: [], status: { pod: "pod-a" } });
    expect(round(aBrowser({}), { pendingCreations: 1 }).does).toEqual([]);
  });

  test("says what it waits for before it may start", () => {
    const { does, status } = round(aBrowser({}), { waitsFor: "a policy" });
    expect(does).toEqual([]);
    const waiting = { reason: "WaitingForProject", message: "a policy" };
    expect(status?.conditions.slice(1)).toMatchObject([
      { type: "Ready", status: "False", ...waiting },
      { type: "Reconciling", status: "True", ...waiting },
    ]);
  });

  // LIMIT-20
  test("that is refused says so and starts nothing, until it is accepted", () => {
    const refusal = { reason: "SessionsLimit", message: "no room" } as const;
    const { does, status } = round(aBrowser({}), { refusal });
    expect(does).toEqual([]);
    expect(status).toMatchObject({
      phase: "Starting",
      conditions: [
        { type: "Accepted", status: "False", reason: "SessionsLimit", message: "no room" },
        { type: "Ready", status: "False", reason: "SessionsLimit", message: "no room" },
        { type: "Stalled", status: "True", reason: "SessionsLimit", message: "no room" },
      ],
    });
    expect(round(aBrowser({ ...status, leaseEpoch: 1 })).does).toEqual(["create"]);
  });

  test.each<[string, Partial<BrowserStatus>, ObservedOptions, Partial<BrowserStatus>]>([
    ["is active while its session is", { pod: "pod-a" }, { pods: [leased] }, { phase: "Active" }],
    [
      "stays active while Redis is asked what it lost",
      { pod: "pod-a", phase: "Active" },
      { pods: [aPod("a", podKinds.warm)] },
      { phase: "Active" },
    ],
    [
      "ends with its session, for its reason and at its time",
      { pod: "pod-a", phase: "Active" },
      { pods: [ended("")], ended: endedLease },
      { phase: "Ended", endReason: "timeout", endTime: new Date(nowMs - 5).toISOString() },
    ],
    [
      "is lost when its pod is gone and nothing is known of its session",
      { pod: "pod-a", phase: "Active" },
      {},
      { phase: "Ended", endReason: "browser_lost" },
    ],
    [
      "has failed when its pod ends before a session began",
      { pod: "pod-a" },
      { pods: [ended("no Chromium")] },
      { phase: "Failed", message: "the browser did not start: no Chromium" },
    ],
    [
      "has failed when its pod is gone before a session began",
      { pod: "pod-a" },
      {},
      { phase: "Failed", message: expect.stringContaining("not ready after 180 s") },
    ],
    [
      "stays ended",
      { pod: "pod-a", phase: "Ended", endReason: "deleted", endTime: "2029-12-31T00:00:00.000Z" },
      { ended: endedLease },
      { phase: "Ended", endReason: "deleted", endTime: "2029-12-31T00:00:00.000Z" },
    ],
  ])("%s", (_, before, observed, after) => {
    const { does, status } = round(aBrowser(before), observed);
    expect(status).toMatchObject(after);
    expect(does).not.toContain("create");
    expect(status?.conditions).toMatchObject([
      { type: "Accepted", status: "True" },
      { type: "Ready", status: after.phase === "Active" ? "True" : "False", reason: after.phase },
      ...(after.phase === "Failed" ? [{ type: "Stalled", status: "True", reason: "Failed" }] : []),
    ]);
  });

  test("that is over keeps no browser", () => {
    const over = aBrowser({ pod: "pod-a", phase: "Ended" });
    expect(round(over, { pods: [aPod("a", podKinds.idle)] }).does).toContain("retire");
    expect(round(over, { pods: [starting] }).does).toContain("delete");
  });

  test("that is deleted ends its session at once", () => {
    const deleted = aBrowser({ pod: "pod-a", phase: "Active" }, { deletionTimestamp: "2029-12-31T00:00:00Z" });
    expect(round(deleted, { pods: [leased] }).does).toEqual(expect.arrayContaining(["drain", "close", "delete"]));
    expect(round(deleted, {}).does).toContain("drop");
  });
});
