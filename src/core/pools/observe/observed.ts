import type { Pod } from "../../../platform/kube/objects.ts";
import type { BrowserRecord, PoolSnapshot } from "../../leases/lease-store.ts";
import type { EndedLease } from "../../leases/records.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { Termination } from "../../protocol/agent-api.ts";
import type { SetupState } from "../../setups/setup-requests.ts";
import type { PoolScaling } from "./autoscaling.ts";

/**
 * A profile, and the number of its last save. `lastUsedMs`: when a browser last started with it, ms since the epoch; 0:
 * never.
 */
export type ProfileVersion = { uid: string; name: string; version: number; lastUsedMs: number };

/** What became of the save of a browser's profile. */
type SaveOutcome =
  | { is: "saved"; version: number }
  /** No client has used the browser. */
  | { is: "unused" }
  /** The profile has the state of a browser that ended later. */
  | { is: "superseded" }
  | { is: "failed"; why: string };

/** How the save of a browser's profile stands. `waiting`: it goes on; `why`: what it waits for. */
export type SaveState = SaveOutcome | { is: "waiting"; why?: string };

/** The whole input of one round of the pool loop: read by `observe`, used by `plan`. */
export type Observed = {
  pool: BrowserPool;
  /** All known pods of the pool, in any order. */
  pods: ObservedPod[];
  /** Pods that carry the pool's label and are not its own: nothing is done about them but to tell. */
  foreign: Pod[];
  leases: PoolSnapshot;
  /** Pods that this replica has created and the watch has not shown yet. */
  pendingCreations: number;
  /** The API server refused the last start; undefined when it took it. */
  refusedCreation: RefusedCreation | undefined;
  /** The hash of the configuration that the spec asks for now. */
  configHash: string;
  /** The pool's profile as it is now; undefined without one. */
  profileVersion: ProfileVersion | undefined;
  /** A browser that ended is still being saved to that profile: what starts with the profile waits for it. */
  awaitsSave: boolean;
  /** How the save of an ending on-demand browser stands. */
  save: SaveState | undefined;
  /** Why the spec can't be carried out, if it can't. */
  refusal: Refusal | undefined;
  /** The size that `autoscale` gives the pool, and why; undefined without it, and while the spec is refused. */
  scaling: PoolScaling | undefined;
  /** What the pool's namespace lacks before browsers may be started in it; undefined when it lacks nothing. */
  waitsFor: string | undefined;
  /** The highest epoch that an inspection found in an agent of the pool. */
  agentEpoch: number;
  /** The ended session of an on-demand browser; undefined before and during its session. */
  ended: EndedLease | undefined;
  /** How long a session may go on on a node that leaves, ms. */
  drainDeadlineMs: number;
  /** How many browsers there are, of all pools. */
  fleet: number;
  /** When earlier inspections became doubtful: this replica began to lead, or Redis came back; ms since the epoch. */
  disturbedAtMs: number;
};

export type ObservedPod = {
  pod: Pod;
  uid: string;
  name: string;
  configHash: string;
  browser: BrowserRecord | undefined;
  state: PodState;
  /** Made with another image or pod template than new pods get. */
  isOutdated: boolean;
  /** The pod's node; undefined before the scheduler has chosen one. */
  node: ObservedNode | undefined;
  /** How the delivery of its setup stands; undefined when it needs none now. */
  setup: SetupState | { is: "awaited" } | undefined;
  /** The last inspection by this replica. */
  inspection: LastInspection | undefined;
  /** The epoch under which this replica asked its agent last, whatever came of it; 0 for none. */
  askedUnder: number;
  /** Since when it was leased when Redis last knew, ms by Redis' clock; undefined: it was not. */
  leasedSinceMs: number | undefined;
  /** Whether it may ask for another share of the processor now (plan/cpu-requests.ts). */
  mayResize: boolean;
};

/**
 * A finished inspection. `atMs`: ms since the epoch; `failures`: inspections in a row, up to this one, that the agent
 * did not answer.
 */
export type LastInspection = { atMs: number; epoch: number; failures: number; failingSinceMs: number };

/** The state of a node as it concerns the browsers on it. */
export type ObservedNode = {
  name: string;
  /** Why browsers must leave the node, as text for users; undefined while they may stay. */
  leaving: string | undefined;
  /** The kubelet is silent: it does not confirm that a pod has ended. */
  isLost: boolean;
  /** No node has this name any more. */
  isGone: boolean;
};

/**
 * What the API server says of browsers that it does not create. `nextMs`: when the next try is due, by Redis' clock.
 */
export type RefusedCreation = { message: string; isShown: boolean; nextMs: number; mayExist: boolean };

export type Refusal = {
  reason:
    | "PooledSessionsLimit"
    | "SessionsLimit"
    | "FillRateAboveCap"
    | "NameTaken"
    | "ReferenceNotFound"
    | "ReferenceAmbiguous"
    | "NotSupportedHere"
    | "InvalidSpec";
  message: string;
};

/**
 * The state of a pod as its pool needs it.
 *
 *   starting     created, and its browser is not ready yet
 *   warm         ready, and without a record in Redis: new, or forgotten by Redis; an inspection finds out which
 *   known        ready, with a record in Redis that says what the browser does
 *   unready      with a record in Redis, and its browser no longer answers the probe
 *   ended        its process has ended; `reason` says why
 *   evicted      being deleted, but not by this replica; its holder may use it until the grace period ends
 *   terminating  being deleted, and no caller may use it; its process may still run
 */
export type PodState =
  | { is: "starting" }
  | { is: "warm" }
  | { is: "known" }
  | { is: "unready" }
  | { is: "ended"; reason: EndedReason; message: string }
  | { is: "evicted" }
  | { is: "terminating" };

/** The reason in the agent's termination message; `lost` when the agent could not write one. */
export type EndedReason = Termination["reason"] | "lost";
