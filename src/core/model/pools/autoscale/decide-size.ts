/**
 * The size of an autoscaled pool (POOL-23, ADR 0047):
 *
 *   asked  = browsers in use + waiting callers + buffer
 *   wanted = asked, within min and max that are in force
 *   size   = wanted, when that is more than now and there is room
 *            the highest that was wanted in the quiet time, when less is wanted, and never more than now
 *
 * It grows only to what is wanted at this moment. So a past peak, which a limit held back, starts nothing when the
 * limit is lifted.
 */
import type { Autoscale } from "../autoscale.ts";
import { boundsAt, nextBoundsMs, type SizeBounds } from "./schedule.ts";

// What was wanted of a pool in its quiet time: the size falls to the highest of it, so a load that comes and goes moves
// nothing.

/** A size that was wanted until a moment. `atMs`: by a clock that is never set. */
export type WantedSize = { atMs: number; size: number };

/**
 * What is remembered. `steps`: oldest and highest first, each higher than all later ones. `now`: what is wanted since
 * the last decision; it counts until the next one, however long that takes.
 */
export type QuietTime = { steps: readonly WantedSize[]; now: number };

/** Parts of a quiet time of which only the highest is kept: so many steps are kept at most, and one more. */
const parts = 60;

/**
 * Within a part of the quiet time the highest stands for all, until that part's last moment: a size falls by that much
 * later.
 */
const withStep = (steps: readonly WantedSize[], { atMs, size }: WantedSize, quietMs: number): readonly WantedSize[] => {
  const partOf = (ms: number): number => Math.floor((ms * parts) / quietMs);
  const higher = steps.filter((one) => one.size > size);
  const last = higher.at(-1);
  if (last && partOf(last.atMs) === partOf(atMs)) return [...higher.slice(0, -1), { atMs, size: last.size }];
  return [...higher, { atMs, size }];
};

/** What is remembered at the beginning: a size that is wanted until something else is. */
export const beginQuietTime = (size: number): QuietTime => ({ steps: [], now: size });

/**
 * Adds what is wanted now, and drops what no longer counts: what is older than the quiet time, and what is not above a
 * later one.
 */
export const remember = ({ steps, now }: QuietTime, { atMs, size }: WantedSize, quietMs: number): QuietTime => {
  const young = steps.filter((one) => atMs - one.atMs <= quietMs);
  const until = withStep(young, { atMs, size: now }, quietMs);
  return { steps: size > now ? withStep(until, { atMs, size }, quietMs) : until, now: size };
};

/** The highest that was wanted in the quiet time, by what `remember` returned. */
export const highestOf = ({ steps, now }: QuietTime): number => Math.max(now, steps[0]?.size ?? 0);

/** The limits that may hold a pool back, as reasons of its condition. */
type LimitReason = "PooledSessionsLimit" | "SessionsLimit";

/** The largest size that the limits of organization and project leave to a pool, and which of them does. */
export type Room = { size: number; limit: LimitReason };

/**
 * Why a pool has its size. `Demand`: it is what is asked for. `AtMin`, `AtMax`: less, or more, is asked for.
 * `ScaleDownStabilized`: more was wanted in the quiet time.
 */
export type SizeReason = "Demand" | "AtMin" | "AtMax" | "ScaleDownStabilized" | LimitReason;

export type ScalingInput = {
  autoscale: Autoscale;
  /** Browsers in use, and callers in the queue. */
  demand: { held: number; waiting: number };
  /** The size until now. */
  size: number;
  room: Room;
  /** Redis has lost data, and not all browsers were asked yet whether they are in use. */
  isRecovering: boolean;
  /**
   * What this replica remembers of earlier rounds; undefined when it begins: then nothing shrinks before a whole quiet
   * time is over.
   */
  recent: QuietTime | undefined;
  /** ms since the epoch, for the schedule. */
  nowMs: number;
  /** ms of a clock that is never set, for the quiet time. */
  monotonicMs: number;
};

export type Scaling = SizeBounds & {
  size: number;
  reason: SizeReason;
  /** The size that the fill rate is a percentage of: the largest that the pool may have now. */
  fillBase: number;
  recent: QuietTime;
  /** When another decision may follow without an event, ms from now; undefined: none. */
  againMs: number | undefined;
};

/** The browsers that are kept above those in use. */
export const bufferOf = (buffer: Autoscale["buffer"], held: number): number =>
  typeof buffer === "number" ? buffer : Math.ceil((held * Number.parseInt(buffer, 10)) / 100);

type Sizes = { asked: number; wanted: number; size: number; bounds: SizeBounds; limit: LimitReason };

const reasonOf = ({ asked, wanted, size, bounds, limit }: Sizes): SizeReason => {
  if (size < wanted) return limit;
  if (size > wanted) return "ScaleDownStabilized";
  if (asked > bounds.max) return "AtMax";
  return asked < bounds.min ? "AtMin" : "Demand";
};

/**
 * When a pool that a limit holds back looks for room again, ms: no event tells that another pool has become smaller.
 */
const roomAgainMs = 5000;

/** When the oldest of what is remembered ends, ms from now. */
const expiryMs = ({ steps }: QuietTime, quietMs: number, monotonicMs: number): number[] =>
  steps.slice(0, 1).map(({ atMs }) => Math.max(1, Math.ceil(atMs + quietMs - monotonicMs) + 1));

/** Decides the size of a pool for one round. */
export const decideSize = (input: ScalingInput): Scaling => {
  const { autoscale, demand, size: before, room, nowMs, monotonicMs } = input;
  const bounds = boundsAt(autoscale, nowMs);
  const quietMs = autoscale.scaleDownAfterSeconds * 1000;
  const asked = demand.held + demand.waiting + bufferOf(autoscale.buffer, demand.held);
  const wanted = Math.min(Math.max(asked, bounds.min), bounds.max);
  const begun = input.recent ?? beginQuietTime(before);
  const counted = input.isRecovering ? Math.max(wanted, before) : wanted;
  const recent = remember(begun, { atMs: monotonicMs, size: counted }, quietMs);
  const grown = Math.max(before, Math.min(wanted, room.size));
  const shrunk = Math.min(Math.max(wanted, Math.min(before, highestOf(recent))), bounds.max);
  const size = wanted > before ? grown : shrunk;
  const times = [
    ...(size < wanted ? [roomAgainMs] : []),
    ...(size > wanted ? expiryMs(recent, quietMs, monotonicMs) : []),
    ...[nextBoundsMs(autoscale, nowMs)].filter((ms) => ms !== undefined),
  ];
  return {
    ...bounds,
    size,
    reason: reasonOf({ asked, wanted, size, bounds, limit: room.limit }),
    fillBase: Math.max(1, size, Math.min(bounds.max, room.size)),
    recent,
    againMs: times.length === 0 ? undefined : Math.min(...times),
  };
};
