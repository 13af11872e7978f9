import type { Pod } from "../../../kube/objects.ts";
import type { BrowserRecord, PoolSnapshot } from "../../../leases/lease-store.ts";
import type { LeaseRecord } from "../../../leases/records.ts";
import type { BrowserPool } from "../../../resources/browser-pool.ts";

/** Everything that one round of the pool loop goes by: read in `observe`, judged in `plan`. */
export type Observed = {
  pool: BrowserPool;
  /** All pods of the pool that are known, any order. */
  pods: ObservedPod[];
  leases: PoolSnapshot;
  /** Pods that were asked for and that the watch has not shown yet. */
  pendingCreations: number;
  /** The hash of the configuration that the spec asks for now. */
  configHash: string;
  /** Why the spec can't be carried out, if it can't. */
  refusal: Refusal | undefined;
  /** What the pool's namespace still lacks before browsers may be started in it, if it does. */
  waitsFor: string | undefined;
  /** The highest epoch that an agent of the pool was found to know. */
  agentEpoch: number;
  /** The session that an on-demand browser had; undefined while it has one, or before. */
  ended: LeaseRecord | undefined;
  /** When all that was found out about browsers became doubtful: this replica began to lead, or Redis came back; ms since the epoch. */
  disturbedAtMs: number;
};

export type ObservedPod = {
  pod: Pod;
  uid: string;
  name: string;
  configHash: string;
  browser: BrowserRecord | undefined;
  state: PodState;
  /** New pods get another image or pod template. */
  isOutdated: boolean;
  /** Where it runs; undefined before it has a node. */
  node: ObservedNode | undefined;
  /** The last look at it by this replica. */
  inspection: LastInspection | undefined;
};

/** A look that came to an end. `atMs`: ms since the epoch; `failures`: in a row, without an answer of the agent, up to now. */
export type LastInspection = { atMs: number; epoch: number; failures: number; failingSinceMs: number };

/** A node as far as the browsers on it depend on it. */
export type ObservedNode = {
  name: string;
  /** Why browsers are to leave it, for people; undefined while they may stay. */
  leaving: string | undefined;
  /** Its kubelet is silent: what ends there is not confirmed. */
  isLost: boolean;
  /** There is none of this name any more. */
  isGone: boolean;
};

export type Refusal = {
  reason: "PooledSessionsLimit" | "FillRateAboveCap" | "NameTaken" | "ReferenceNotFound" | "InvalidSpec";
  message: string;
};

/**
 * What a pod is to its pool.
 *
 *   starting     made, its browser is not ready yet
 *   warm         ready, and not known to the leases: new, or forgotten by Redis; a look tells which
 *   known        ready and known to the leases; what it does stands in its record there
 *   unready      known to the leases, and its browser does not answer the probe any more
 *   ended        its process has ended; `reason` says why
 *   evicted      being deleted, and not by this replica; who holds it may go on until its grace is over
 *   terminating  being deleted, and nobody is to use it; its process may still run
 */
export type PodState =
  | { is: "starting" }
  | { is: "warm" }
  | { is: "known" }
  | { is: "unready" }
  | { is: "ended"; reason: EndedReason; message: string }
  | { is: "evicted" }
  | { is: "terminating" };

/** From the agent's termination message; `lost` when it could not write one. */
export type EndedReason = "timeout" | "browser_crashed" | "start_failed" | "stopped" | "lost";
