/**
 * The losses of browsers are noted apart from rounds and before any round goes on, by Redis alone. So of many losses at
 * once the last one is known before the first one is replaced: its session ends, its caller learns of it, and nobody
 * gets the browser. A round costs calls to the API server, and closes what was not noted.
 */
import type { Logger } from "../../../platform/base/log.ts";
import { awaitWith } from "../../../platform/base/retry.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { type Pod, refOf } from "../../../platform/kube/objects.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import { startWorkQueue, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { Inspections } from "../inspect/inspections.ts";
import { podsOf } from "../observe/observe.ts";
import { podState } from "../observe/pod-state.ts";
import { lossReason } from "../plan/losses.ts";
import { nextEpoch } from "../plan/recovery.ts";
import type { PoolSource } from "../pool-source.ts";
import { type CloseDeps, closeRecord } from "./close-record.ts";

type NoteDeps = Omit<CloseDeps, "store"> & {
  source: Pick<PoolSource, "get" | "meta">;
  store: Pick<LeaseStore, "snapshot" | "close">;
  pods: Pick<Reflector<Pod>, "synced">;
  podsByOwner: Pick<ObjectGroups<Pod>, "of" | "size">;
  inspections: Pick<Inspections, "agentEpoch">;
  /** Uids of pods that this replica has deleted or is deleting. */
  dying: ReadonlySet<string>;
  lead: Lead;
};

/**
 * Ends the leases of an object's browsers whose pods are gone or have ended, and has nobody get them. The record of a
 * pod that is there stays until its round: without one the pod would be a failed start. Safe to repeat at any point;
 * nothing while Redis may have lost records.
 */
export const noteLosses = async (key: string, deps: NoteDeps): Promise<void> => {
  await deps.pods.synced(deps.lead.signal);
  const known = deps.source.get(refOf(key));
  if (!known) return;
  const { uid } = known.metadata;
  const leases = await deps.store.snapshot(uid);
  // Read after the wait: a record of the snapshot has a pod that the watch has shown before.
  const pool = deps.source.get(refOf(key));
  if (pool?.metadata.uid !== uid) return;
  if (nextEpoch({ pool, leases, agentEpoch: deps.inspections.agentEpoch(uid) }) !== undefined) return;
  const pods = new Map(podsOf({ ...pool, ...deps.source.meta }, deps).own.map((pod) => [pod.metadata.uid, pod]));
  const lost = leases.browsers.flatMap((browser) => {
    const pod = pods.get(browser.id);
    // Of a pod that is being deleted, the round that deletes it has decided on the record.
    if (browser.state === "retired" || deps.dying.has(browser.id)) return [];
    const why = lossReason(browser, pod && { pod, state: podState(pod, { browser, isDying: false }) });
    return why ? [{ browser: browser.id, why, keepsRecord: pod !== undefined }] : [];
  });
  deps.lead.check();
  await Promise.all(lost.map((one) => closeRecord(uid, one, deps)));
};

/** Objects that are looked at at the same time; each takes some milliseconds of Redis. */
const atOnce = 16;

/** A round waits for losses for this time at most, ms: while Redis is away, none is noted. */
const waitMs = 10_000;

type Losses = {
  /** Looks for losses of the object soon; nothing without a key. */
  look(key: string | undefined): void;
  /** Resolves when every object that was to be looked at has been, whatever came of it, and after 10 s at the latest. */
  noted(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

type LossesDeps = {
  /** Looks for losses of one object. */
  note(key: string): Promise<void>;
  /** The name of the queue. */
  name: string;
  log: Logger;
  meter: WorkMeter;
};

/** Starts the queue of looks. The caller must call `stop`. */
export const startLosses = ({ note, name, log, meter }: LossesDeps): Losses => {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const active = new Map<string, PromiseWithResolvers<void>>();
  const queue = startWorkQueue({
    name,
    concurrency: atOnce,
    log,
    meter,
    async work(key) {
      const look = waiting.get(key);
      waiting.delete(key);
      if (look) active.set(key, look);
      try {
        await note(key);
        return undefined;
      } finally {
        active.delete(key);
        look?.resolve();
      }
    },
  });
  return {
    look(key) {
      if (key === undefined) return;
      if (!waiting.has(key)) waiting.set(key, Promise.withResolvers());
      queue.add(key);
    },
    async noted(signal) {
      const looks = [...waiting.values(), ...active.values()].map(({ promise }) => promise);
      if (looks.length === 0) return;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      await awaitWith(Promise.all(looks), limit).catch(() => undefined);
    },
    stop: queue.stop,
  };
};
