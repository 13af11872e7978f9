/**
 * What one replica remembers of autoscaled pools while it leads: what was wanted of each in its quiet time, and what it
 * has told of its size. A new leader begins with the size that it finds, so it takes nothing away before a whole quiet
 * time is over.
 */

import type { PoolSnapshot } from "../../leases/lease-store.ts";
import { decideSize, type QuietTime, type Room, type Scaling } from "../../model/pools/autoscale/decide-size.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";

/** `resized`: a change of the size that is to be told now. */
export type PoolScaling = Scaling & { resized: { from: number; to: number } | undefined };

export type AutoscalingInput = {
  pool: BrowserPool;
  leases: PoolSnapshot;
  /** The size until now. */
  size: number;
  room: Room;
  /** ms of a clock that is never set. */
  monotonicMs: number;
};

export type Autoscaling = {
  /** Decides on the size of a pool; undefined for one without `autoscale`. */
  decide(input: AutoscalingInput): PoolScaling | undefined;
  /** Begins anew with a pool: it is gone, or its spec is not in force. */
  forget(uid: string): void;
};

type Told = { size: number; atMs: number };

/** Shortest time between two Events about the size of a pool, ms. */
const tellMs = 60_000;

/** Redis may not know yet which browsers are in use. */
const isRecovering = ({ pool, leases }: AutoscalingInput): boolean =>
  leases.recoveringSinceMs !== undefined || !leases.isSameServer || leases.epoch !== pool.status?.leaseEpoch;

/** Makes an empty memory for one lead. */
export const createAutoscaling = (): Autoscaling => {
  const recents = new Map<string, QuietTime>();
  const tellings = new Map<string, Told>();
  return {
    decide(input) {
      const { pool, leases, size, room, monotonicMs } = input;
      const { autoscale } = pool.spec;
      const { uid, deletionTimestamp } = pool.metadata;
      if (!autoscale || deletionTimestamp) return undefined;
      const scaling = decideSize({
        ...{ autoscale, size, room, monotonicMs },
        demand: {
          held: leases.browsers.filter(({ state }) => state === "leased").length,
          waiting: leases.waiting,
        },
        isRecovering: isRecovering(input),
        recent: recents.get(uid),
        nowMs: leases.nowMs,
      });
      recents.set(uid, scaling.recent);
      const told = tellings.get(uid) ?? { size, atMs: Number.NEGATIVE_INFINITY };
      const tells = scaling.size !== told.size && monotonicMs - told.atMs >= tellMs;
      tellings.set(uid, tells ? { size: scaling.size, atMs: monotonicMs } : told);
      return { ...scaling, resized: tells ? { from: told.size, to: scaling.size } : undefined };
    },
    forget(uid) {
      recents.delete(uid);
      tellings.delete(uid);
    },
  };
};
