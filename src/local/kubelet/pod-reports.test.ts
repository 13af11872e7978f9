import { expect, test, vi } from "vitest";
import type { Kube } from "../../platform/kube/client.ts";
import { KubeError } from "../../platform/kube/kube-error.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { createPodReports } from "./pod-reports.ts";
import type { PodRunState } from "./pod-run.ts";

const pod = { metadata: { name: "pod", namespace: "project", uid: "uid" }, spec: { containers: [] } } as unknown as Pod;
const up = { phase: "running", ready: true, startedAtMs: 0, pid: 1 } as unknown as PodRunState;

/** Reports whose writes are answered in this order, and then well. */
const reportsWith = (...answers: (() => Promise<unknown>)[]) => {
  const patch = vi.fn(async (..._what: unknown[]) => answers.shift()?.());
  return { patch, reports: createPodReports({ patch } as unknown as Kube) };
};
const away = () => Promise.reject(new KubeError("Unreachable", 0, "no answer"));
const gone = () => Promise.reject(new KubeError("NotFound", 404, "no such pod"));

test("a status is written once", async () => {
  const { patch, reports } = reportsWith();
  await reports.report(pod, up);
  await reports.report(pod, up);
  expect(patch).toHaveBeenCalledTimes(1);
  reports.forget("uid");
  await reports.report(pod, up);
  expect(patch).toHaveBeenCalledTimes(2);
});

test("a status that could not be written is written again", async () => {
  const { patch, reports } = reportsWith(away);
  await expect(reports.report(pod, up)).rejects.toThrow("no answer");
  await reports.report(pod, up);
  expect(patch).toHaveBeenCalledTimes(2);
});

test("a pod that is gone has no status to be written", async () => {
  const { patch, reports } = reportsWith(gone);
  await reports.report(pod, up);
  await reports.report(pod, up);
  expect(patch).toHaveBeenCalledTimes(1);
});
