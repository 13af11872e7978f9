import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { statusOfRun } from "./pod-status.ts";

const startedAt = "2026-01-01T00:00:00.000Z";
const pod: Pod = { metadata: storedMeta("pod"), spec: { containers: [{ name: "agent" }] } };
const running = (ready: boolean) => ({ phase: "running" as const, ready, podIp: "127.1.2.3", startedAt });

test("a condition keeps its time for as long as it keeps its status, and conditions of others stay", () => {
  const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" };
  const ready = { type: "Ready", status: "False", lastTransitionTime: "2025-01-01T00:00:00Z" };
  const foreign = { type: "example.com/gate", status: "True" };
  const conditions = statusOfRun(pod, running(true), [scheduled, ready, foreign]).conditions ?? [];
  expect(conditions).toContainEqual(scheduled);
  expect(conditions).toContainEqual(foreign);
  const now = conditions.find(({ type }) => type === "Ready");
  expect(now).toMatchObject({ status: "True" });
  expect(now?.lastTransitionTime).not.toBe(ready.lastTransitionTime);
});

test.each([
  [0, "Succeeded", "Completed"],
  [1, "Failed", "Error"],
  [137, "Failed", "Error"],
])("exit code %i makes the pod %s, its container %s", (exitCode, phase, reason) => {
  const ended = { phase: "ended" as const, exitCode, message: "why", startedAt, finishedAt: startedAt };
  const status = statusOfRun(pod, ended);
  expect(status.phase).toBe(phase);
  expect(status.containerStatuses?.[0]?.state).toEqual({
    terminated: { exitCode, reason, message: "why", startedAt, finishedAt: startedAt },
  });
  expect(status).not.toHaveProperty("podIP");
});
