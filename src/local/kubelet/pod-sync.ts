/**
 * Reconciles one pod's process with its object. It is called with a key whenever either has changed, reads the present
 * state of both, takes the next step, and never waits for a process.
 *
 *   object                                process      step
 *   without a node                        –            bind it to this node, or report why not
 *   bound, unsupported                    –            report Failed
 *   bound before this node was started    –            report Failed (its process died with the former run)
 *   bound                                 –            start it
 *   bound                                 any          report what changed
 *   being deleted, or ended               alive        end it
 *   being deleted                         none, ended  delete the object
 *   gone                                  alive        end it at once
 *   gone                                  ended        forget it
 *
 * A pod that becomes ready soon costs three requests: bind, running and ready, delete (or the end).
 */
import type { Kube } from "../../platform/kube/client.ts";
import { type Pod, type Ref, refOf } from "../../platform/kube/objects.ts";
import { pods } from "../../platform/kube/resource-type.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import type { Binder } from "./binder.ts";
import type { PodReports } from "./pod-reports.ts";
import type { PodRun } from "./pod-run.ts";
import { type Failure, isOver } from "./pod-status.ts";
import { whyUnsupported } from "./supported-pod.ts";

type PodSyncOptions = {
  kube: Kube;
  nodeName: string;
  binder: Binder;
  reports: PodReports;
  /** The pod as the watch shows it. */
  cached: (ref: Ref) => Pod | undefined;
  startRun: (pod: Pod) => PodRun;
  removeLog: (ref: Ref) => Promise<void>;
};

type PodSync = {
  sync(key: string): Promise<Requeue | undefined>;
  /** Reports a pod of a former run of this node as failed, or finishes its deletion. */
  reportLeftover(pod: Pod): Promise<void>;
  /** Ends every process, then reports the ends if the API still answers. Call it after the last call of `sync`. */
  endAll(graceMs: number): Promise<void>;
};

/** The node tries again to place a pod after this time, ms. */
const retryPlacementMs = 1000;

/** Reports to the API that run at the same time when the node stops. */
const concurrentReports = 32;

/** Kubernetes' default of `terminationGracePeriodSeconds`. */
const defaultGraceSeconds = 30;

const lostByRestart: Failure = { reason: "NodeRestart", message: "the process ended with a former run of its node" };
const lostByStop: Failure = { reason: "NodeShutdown", message: "the local kubelet was stopped" };

const graceMsOf = ({ metadata, spec }: Pod): number =>
  (metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1000;

type Entry = { pod: Pod; run: PodRun };

/** Keeps the processes of the node's pods as the API has them. Starts nothing before the first `sync`. */
export const createPodSync = (options: PodSyncOptions): PodSync => {
  const { kube, nodeName, binder, reports, cached, startRun, removeLog } = options;
  const entries = new Map<string, Entry>();
  /** Uids of pods that are reported as failed; the watch may still show them alive. */
  const reported = new Set<string | undefined>();

  const remove = ({ metadata }: Pod): Promise<void> =>
    kube.delete(pods, metadata, { ...(metadata.uid && { uid: metadata.uid }), gracePeriodSeconds: 0 });

  const begin = async (key: string, pod: Pod): Promise<undefined> => {
    const why = whyUnsupported(pod);
    if (why) await reports.fail(pod, { reason: "UnsupportedPod", message: `not supported by a local kubelet: ${why}` });
    else entries.set(key, { pod, run: startRun(pod) });
  };
  const forget = async (key: string, { pod, run }: Entry): Promise<Requeue | undefined> => {
    // At once: the object is gone, so nothing waits for an end in order.
    run.end(defaultGraceSeconds * 1000, "SIGINT");
    if (run.state().phase !== "ended") return undefined;
    await removeLog(pod.metadata);
    reports.forget(pod.metadata.uid);
    entries.delete(key);
    return { requeueAfterMs: 0 };
  };
  const finishDeletion = async (pod: Pod, run: PodRun | undefined): Promise<undefined> => {
    run?.end(graceMsOf(pod));
    if (run && run.state().phase !== "ended") return;
    // The owner of a finalizer on the pod needs to know how it ended.
    if (run && pod.metadata.finalizers?.length) await reports.report(pod, run.state());
    await remove(pod);
  };
  const place = async (pod: Pod): Promise<Requeue | undefined> => {
    if (isOver(pod) || pod.metadata.deletionTimestamp) return undefined;
    const why = await binder.bind(pod);
    if (!why) return undefined;
    await reports.unscheduled(pod, `0/1 nodes are available: 1 ${why}.`);
    return { requeueAfterMs: retryPlacementMs };
  };

  const syncOwn = async (key: string, pod: Pod, run: PodRun | undefined): Promise<Requeue | undefined> => {
    if (pod.metadata.deletionTimestamp) return finishDeletion(pod, run);
    if (isOver(pod) || reported.has(pod.metadata.uid)) return void run?.end(graceMsOf(pod));
    return run ? reports.report(pod, run.state()) : begin(key, pod);
  };
  const reportEnd = async ({ pod: { metadata }, run }: Entry): Promise<void> => {
    await run.ended;
    const pod = cached(metadata);
    if (!pod || pod.metadata.uid !== metadata.uid || isOver(pod)) return;
    if (pod.metadata.deletionTimestamp) await finishDeletion(pod, run);
    else await reports.report(pod, run.state(), lostByStop);
  };
  return {
    async sync(key) {
      const pod = cached(refOf(key));
      const entry = entries.get(key);
      if (entry && entry.pod.metadata.uid !== pod?.metadata.uid) return forget(key, entry);
      if (!pod) return undefined;
      if (!pod.spec?.nodeName) return place(pod);
      return pod.spec.nodeName === nodeName ? syncOwn(key, pod, entry?.run) : undefined;
    },
    async reportLeftover(pod) {
      reported.add(pod.metadata.uid);
      if (pod.metadata.deletionTimestamp) await remove(pod);
      else if (!isOver(pod)) await reports.fail(pod, lostByRestart);
    },
    async endAll(graceMs) {
      for (const { run } of entries.values()) run.end(graceMs, "SIGINT");
      const left = entries.values();
      const reportAll = async (): Promise<void> => {
        // All workers share one iterator, so each entry is taken once.
        for (const entry of left) await reportEnd(entry).catch(() => undefined);
      };
      await Promise.all(Array.from({ length: concurrentReports }, reportAll));
    },
  };
};
