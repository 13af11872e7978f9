/**
 * What the Lua scripts did to one pool, written by the scripts themselves (hook/lease-recorder.lua) into a stream
 * beside the pool's keys, in the very order in which it happened: one entry for each script that changed something.
 * Entries that a flush, a kill or a failover swallowed are missing.
 */
import { z } from "zod";
import { BrowserRecord } from "../../../src/core/leases/records.ts";
import { eventOf } from "./event-base.ts";

const state = z.enum([...BrowserRecord.shape.state.options, "none"]);

const lease = { session: z.string(), browser: z.string(), epoch: z.int(), seq: z.int() };

/** `request`: the caller's tag of this name (client-event.ts), by which its call is found. */
export const LeaseChange = z.discriminatedUnion("what", [
  /** A browser's record changed; `none`: there is no record. `from` is what Redis had until then. */
  z.object({
    what: z.literal("state"),
    browser: z.string(),
    from: state,
    to: state,
    seq: z.int(),
    session: z.string().optional(),
    reason: z.string().optional(),
  }),
  /** A caller entered the queue, or came back to its place with its earlier ticket. */
  z.object({
    what: z.literal("queued"),
    session: z.string(),
    ticket: z.coerce.number(),
    request: z.string().optional(),
  }),
  /** A caller left the queue without a browser: it cancelled, its replica was dead, the pool drains. */
  z.object({ what: z.literal("left"), session: z.string() }),
  /** A caller that stood in the queue got a browser. `channel`: names its API replica (pool-keys.ts). */
  z.object({
    what: z.literal("granted"),
    ...lease,
    ticket: z.coerce.number(),
    channel: z.string().optional(),
    request: z.string().optional(),
  }),
  /** A lease was written whose session did not stand in the queue: found at an agent after Redis had lost it. */
  z.object({ what: z.literal("restored"), ...lease, request: z.string().optional() }),
  /** A lease went without being ended: its browser refused it, or its caller never learned of it. */
  z.object({ what: z.literal("undone"), session: z.string() }),
  /** A lease ended for good. */
  z.object({ what: z.literal("ended"), ...lease, reason: z.string() }),
  /** The pool has a new epoch. */
  z.object({ what: z.literal("epoch"), epoch: z.int() }),
]);
export type LeaseChange = z.infer<typeof LeaseChange>;

/** The field `script` of an entry of a pool's stream: JSON of this. Its field `digest` is of that text. */
const LeaseEntry = z.object({
  script: z.string(),
  /** The digest of the stream's entry before this one, empty for the first: another one shows a loss in between. */
  after: z.string(),
  /** When it ran, µs since the epoch by Redis' clock. */
  timeUs: z.number(),
  changes: z.array(LeaseChange),
});

/** All that one script changed. */
export const LeaseEvent = eventOf("lease", {
  /** Uid of the pool. */
  pool: z.string(),
  /** The entry's digest. Its id in the stream names it not: two masters can give the same one at the same time. */
  entry: z.string(),
  /** As in `LeaseEntry`. */
  after: z.string(),
  script: z.string(),
  changes: z.array(LeaseChange),
});
export type LeaseEvent = z.infer<typeof LeaseEvent>;

/** The stream into which the scripts write a pool's changes. */
export const leaseStreamKey = (poolUid: string): string => `bp:{${poolUid}}:history`;

/**
 * An entry of a pool's stream as an event; throws for any other text. `fields`: as ioredis gives them. `offsetMs`:
 * `monotonicMs()` minus `Date.now()` of a process whose clock is Redis' clock, so `at` is only good to a millisecond or
 * two.
 */
export const leaseEventOf = (
  pool: string,
  [, [, script = "", , entry = ""]]: [id: string, fields: string[]],
  offsetMs: number,
): LeaseEvent => {
  const { timeUs, ...what } = LeaseEntry.parse(JSON.parse(script));
  return { kind: "lease", at: timeUs / 1000 + offsetMs, pool, entry, ...what };
};
