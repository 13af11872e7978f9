/**
 * The size of an autoscaled pool (POOL-23, ADR 0047):
 *
 *   asked  = browsers in use + waiting callers + buffer
 *   wanted = asked, within min and max that are in force
 *   size   = wanted, when that is more than now and there is room
 *            the highest that was wanted in the quiet time, when less is wanted, and never more than now
 *
 * It grows only to what is wanted at this moment. So a past peak, which a limit held back, starts nothing when the limit is lifted.
 */
import type { Autoscale } from "../autoscale.ts";
import { beginQuietTime, highestOf, type QuietTime, remember } from "./quiet-time.ts";
import { boundsAt, nextBoundsMs, type SizeBounds } from "./schedule.ts";

/** The limits that may hold a pool back, as reasons of its condition. */
type LimitReason = "PooledSessionsLimit" | "SessionsLimit";

/** The largest size that the limits of organization and project leave to a pool, and which of them does. */
export type Room = { size: number; limit: LimitReason };

/**
 * Why a pool has its size. `Demand`: it is what is asked for. `AtMin`, `AtMax`: less, or more, is asked for. `ScaleDownStabilized`: more was
 * wanted in the quiet time.
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
  /** What this replica remembers of earlier rounds; undefined when it begins: then nothing shrinks before a whole quiet time is over. */
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

/** When a pool that a limit holds back looks for room again, ms: no event tells that another pool has become smaller. */
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
