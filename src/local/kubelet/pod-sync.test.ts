import { expect, test, vi } from "vitest";
import type { Pod } from "../../platform/kube/objects.ts";
import type { PodRun, PodRunState } from "./pod-run.ts";
import { createPodSync } from "./pod-sync.ts";

const key = "a/browser";
const podOf = (uid: string, more: object = {}): Pod =>
  ({
    metadata: { name: "browser", namespace: "a", uid, ...more },
    spec: { nodeName: "here", restartPolicy: "Never", containers: [{ name: "agent" }] },
  }) as unknown as Pod;

/** A node whose processes and watch this test plays. */
const node = () => {
  const runs: { uid: string | undefined; state: PodRunState; end: ReturnType<typeof vi.fn> }[] = [];
  const shown: { pod: Pod | undefined } = { pod: undefined };
  const kube = { delete: vi.fn(async () => undefined) };
  const reports = {
    report: vi.fn(async () => undefined),
    fail: vi.fn(async () => undefined),
    unscheduled: vi.fn(),
    forget: vi.fn(),
  };
  const removeLog = vi.fn(async () => undefined);
  const sync = createPodSync({
    kube: kube as never,
    nodeName: "here",
    binder: { bind: async () => undefined },
    reports: reports as never,
    cached: () => shown.pod,
    startRun(pod) {
      const run = { uid: pod.metadata.uid, state: { phase: "starting" } as PodRunState, end: vi.fn() };
      runs.push(run);
      return { state: () => run.state, end: run.end, ended: Promise.resolve() } as unknown as PodRun;
    },
    removeLog,
  });
  const show = (pod: Pod | undefined) => {
    shown.pod = pod;
    return sync.sync(key);
  };
  return { runs, show, sync, kube, reports, removeLog };
};
const ended = { phase: "ended", exitCode: 0, message: "", startedAt: "", finishedAt: "" } as const;

test("a pod that is made anew under its name is started when the old process has ended, and never gets its status", async () => {
  const { runs, show, reports, removeLog } = node();
  await show(podOf("old"));
  await show(podOf("new"));
  const [old] = runs;
  expect([runs.length, old?.end.mock.calls.length]).toEqual([1, 1]);
  expect(reports.report).not.toHaveBeenCalled();
  if (old) old.state = ended;
  expect(await show(podOf("new"))).toEqual({ requeueAfterMs: 0 });
  await show(podOf("new"));
  expect(runs.map(({ uid }) => uid)).toEqual(["old", "new"]);
  expect(removeLog).toHaveBeenCalledTimes(1);
});

test("the object of a deleted pod goes when its process has ended, and not before", async () => {
  const { runs, show, kube } = node();
  await show(podOf("one"));
  const going = podOf("one", { deletionTimestamp: "now", deletionGracePeriodSeconds: 7 });
  await show(going);
  expect(runs[0]?.end).toHaveBeenCalledWith(7000);
  expect(kube.delete).not.toHaveBeenCalled();
  if (runs[0]) runs[0].state = ended;
  await show(going);
  expect(kube.delete).toHaveBeenCalledTimes(1);
});

test("a pod of a former run of the node is reported as failed, and not started", async () => {
  const { runs, show, sync, reports } = node();
  await sync.reportLeftover(podOf("left"));
  await show(podOf("left"));
  expect(runs).toEqual([]);
  expect(reports.fail).toHaveBeenCalledTimes(1);
});
