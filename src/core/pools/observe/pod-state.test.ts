import { describe, expect, test } from "vitest";
import { aRecord } from "../../../../test/support/observed-pool.ts";
import { storedMeta } from "../../../../test/support/stored-meta.ts";
import type { Pod } from "../../../platform/kube/objects.ts";
import type { BrowserRecord } from "../../leases/records.ts";
import { keptPod } from "../pod-watch.ts";
import { isOver, podState } from "./pod-state.ts";

type PodOptions = { phase?: string; ready?: boolean; deleted?: boolean; message?: string };

const aPod = ({ phase = "Running", ready = true, deleted = false, message }: PodOptions = {}): Pod => ({
  metadata: storedMeta("p", deleted ? { deletionTimestamp: "2030-01-01T00:00:00Z" } : {}),
  status: {
    phase,
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
    ...(message && {
      containerStatuses: [
        {
          name: "agent",
          image: "",
          imageID: "",
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, message } },
        },
      ],
    }),
  },
});
const record = (state: BrowserRecord["state"]) => aRecord("p", state);

const stateOf = (pod: Pod, browser: BrowserRecord | undefined, isDying: boolean) => podState(pod, { browser, isDying });

test.each([
  [{ ready: false }, undefined, "starting"],
  [{}, undefined, "warm"],
  [{}, record("idle"), "known"],
  [{ ready: false }, record("leased"), "unready"],
] as const)("a pod that lives %j, with the record %j, is %s", (options, browser, state) => {
  expect(stateOf(aPod(options), browser, false)).toEqual({ is: state });
});

describe("a pod that is being deleted", () => {
  test.each(["idle", "leased", "releasing", "suspect"] as const)("by somebody else, %s, is evicted", (state) => {
    expect(stateOf(aPod({ deleted: true }), record(state), false)).toEqual({ is: "evicted" });
    expect(stateOf(aPod({ deleted: true, ready: false }), record(state), false)).toEqual({ is: "evicted" });
  });

  test("by somebody else, of which Redis knows nothing, is evicted: it may be in use; unless it has not been ready", () => {
    expect(stateOf(aPod({ deleted: true }), undefined, false)).toEqual({ is: "evicted" });
    expect(stateOf(aPod({ deleted: true, ready: false }), undefined, false)).toEqual({ is: "terminating" });
  });

  test("and is retired, or was deleted here, just ends", () => {
    expect(stateOf(aPod({ deleted: true }), record("retired"), false)).toEqual({ is: "terminating" });
    expect(stateOf(aPod({ deleted: true }), record("leased"), true)).toEqual({ is: "terminating" });
    expect(stateOf(aPod(), undefined, true)).toEqual({ is: "terminating" });
  });

  test("and has ended says why", () => {
    const message = JSON.stringify({ reason: "stopped", message: "told to" });
    expect(stateOf(aPod({ deleted: true, phase: "Succeeded", message }), record("leased"), false)).toEqual({
      is: "ended",
      reason: "stopped",
      message: "told to",
    });
  });
});

test("a pod whose agent has ended is over with the agent's words, whatever a further container does", () => {
  const message = JSON.stringify({ reason: "browser_crashed", message: "it crashed" });
  const pod = aPod({ message });
  const status = { name: "aside", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } };
  pod.status?.containerStatuses?.unshift(status);
  expect(isOver(pod)).toBe(true);
  expect(stateOf(pod, record("leased"), false)).toMatchObject({ is: "ended", reason: "browser_crashed" });
  expect(keptPod(pod).status?.containerStatuses).toHaveLength(2);
  const running = aPod();
  if (running.status) running.status.containerStatuses = [{ ...status, state: { terminated: { exitCode: 0 } } }];
  expect(isOver(running)).toBe(false);
});
