/**
 * What the Lua scripts did to one pool, written by the scripts themselves (hook/record-leases.ts) into a stream beside the
 * pool's keys, in the very order in which it happened. Entries that a flush, kill or failover swallowed are missing.
 */
import { z } from "zod";
import { BrowserRecord } from "../../../src/leases/records.ts";
import { eventOf } from "./event-base.ts";

const state = z.enum([...BrowserRecord.shape.state.options, "none"]);

/** An entry as the scripts write it. */
export const LeaseChange = z.discriminatedUnion("what", [
  /** A browser's record changed its state; `none`: there is no record. `from` is what Redis had until then. */
  z.object({
    what: z.literal("state"),
    browser: z.string(),
    from: state,
    to: state,
    seq: z.int(),
    epoch: z.int().optional(),
    session: z.string().optional(),
    reason: z.string().optional(),
  }),
  /** A caller entered the queue, or came back to its place with its earlier ticket. */
  z.object({ what: z.literal("queued"), session: z.string(), ticket: z.number() }),
  /** A caller left the queue without a browser: it cancelled, its replica was dead, the pool drains. */
  z.object({
    what: z.literal("left"),
    session: z.string(),
    ticket: z.number().optional(),
    why: z.enum(["cancelled", "dead", "draining"]),
  }),
  /** A caller got a browser. */
  z.object({
    what: z.literal("granted"),
    session: z.string(),
    browser: z.string(),
    ticket: z.number(),
    epoch: z.int(),
    seq: z.int(),
  }),
  /** A lease ended for good. */
  z.object({
    what: z.literal("ended"),
    session: z.string(),
    browser: z.string(),
    epoch: z.int(),
    seq: z.int(),
    reason: z.string(),
  }),
  /** A lease was found at an agent and written back after Redis had lost it. */
  z.object({
    what: z.literal("restored"),
    session: z.string(),
    browser: z.string(),
    epoch: z.int(),
    seq: z.int(),
  }),
  /** The pool has a new epoch. */
  z.object({ what: z.literal("epoch"), epoch: z.int() }),
]);
export type LeaseChange = z.infer<typeof LeaseChange>;

export const LeaseEvent = eventOf("lease", {
  /** Uid of the pool. */
  pool: z.string(),
  /** The entry's id in the pool's stream: `<ms>-<n>` by Redis' clock. */
  entry: z.string(),
  change: LeaseChange,
});
export type LeaseEvent = z.infer<typeof LeaseEvent>;

/** The stream into which the scripts write a pool's changes: one field, `change`, with a `LeaseChange` in JSON. */
export const leaseStreamKey = (poolUid: string): string => `bp:{${poolUid}}:history`;

/**
 * An entry of a pool's stream as an event; throws for any other text. `offsetMs`: `monotonicMs()` minus `Date.now()` of a
 * process whose clock is Redis' clock. Redis stops its clock during a script, so entries of one script share their time.
 */
export const leaseEventOf = (
  pool: string,
  entry: string,
  { change, offsetMs }: { change: string; offsetMs: number },
): LeaseEvent =>
  LeaseEvent.parse({
    kind: "lease",
    at: Number(entry.split("-")[0]) + offsetMs,
    pool,
    entry,
    change: JSON.parse(change),
  });
