/**
 * What the run itself did: the pools it asked for, the faults it caused, the processes it kept, and the state it ended
 * in.
 */
import { z } from "zod";
import { BrowserRecord, LeaseRecord } from "../../../src/core/leases/records.ts";
import { eventOf } from "./event-base.ts";

/** The first event of a history. */
export const HeadEvent = eventOf("history", {
  version: z.literal(1),
  seed: z.int(),
  /** Kinds of faults that this history was made with. */
  faults: z.array(z.string()),
  /** Name of the seeded bug, if the product was patched with one. */
  bug: z.string().optional(),
  /** The product's commit. */
  commit: z.string().optional(),
  startedAt: z.string(),
});

/**
 * The run changes a pool. `call` carries the request, `return` whether it was taken; after `error` it may have been.
 * `create` names its uid in the return only.
 */
export const PoolEvent = eventOf("pool", {
  phase: z.enum(["call", "return"]),
  /** The same in call and return. */
  id: z.string(),
  what: z.enum(["create", "resize", "rate", "reconfigure", "discard", "flush", "delete"]),
  pool: z.string().optional(),
  name: z.string(),
  size: z.int().optional(),
  fillRatePerMinute: z.number().optional(),
  /** Delete: ends leased browsers too. Reconfigure: the same as a discard of what is idle. */
  force: z.boolean().optional(),
  discardIdle: z.boolean().optional(),
  outcome: z.enum(["ok", "refused", "error"]).optional(),
  status: z.int().optional(),
});

/** `end` comes when the cause is gone, not when the service has recovered. */
export const FaultEvent = eventOf("fault", {
  phase: z.enum(["begin", "end"]),
  /** The same in begin and end. */
  id: z.string(),
  /** File name in faults/. */
  fault: z.string(),
  /** What it hit: processes, pods, pools; for people and for the timeline. */
  details: z.record(z.string(), z.unknown()).optional(),
});

/** Resources of a process, after a garbage collection. */
export const ProcessSample = z.object({
  heapBytes: z.int(),
  sockets: z.int(),
  fds: z.int(),
  timers: z.int(),
  children: z.int(),
});
export type ProcessSample = z.infer<typeof ProcessSample>;

/**
 *   start     it runs
 *   exit      it is gone; `expected`: the run wanted that (a fault, the end)
 *   failure   it logged an unhandled rejection or uncaught exception
 *   sample    while nobody uses the service, before the first load and after each history
 */
export const ProcessEvent = eventOf("process", {
  what: z.enum(["start", "exit", "failure", "sample"]),
  role: z.enum(["api", "operator", "redis", "apiserver", "etcd", "node"]),
  /** Stays the same when the process is started anew. */
  name: z.string(),
  pid: z.int(),
  code: z.int().nullable().optional(),
  signal: z.string().nullable().optional(),
  expected: z.boolean().optional(),
  message: z.string().optional(),
  sample: ProcessSample.optional(),
});

/**
 * Moments of the run.
 *
 *   load-begin    the first client starts
 *   faults-over   the last fault has ended; clients go on
 *   load-over     the last client has stopped; nobody holds a session any more that it still means to use
 *   converged     the run found the service at rest
 *   quiet-begin, quiet-end   the time in which writes were counted
 */
export const MarkEvent = eventOf("mark", {
  mark: z.enum(["load-begin", "faults-over", "load-over", "converged", "quiet-begin", "quiet-end"]),
});

const FinalPool = z.object({
  pool: z.string(),
  name: z.string(),
  size: z.int(),
  epoch: z.int().optional(),
  browsers: z.array(BrowserRecord),
  leases: z.array(LeaseRecord),
  /** Ended sessions as Redis keeps them. */
  ended: z.array(z.object({ session: z.string(), browser: z.string(), reason: z.string().optional() })),
  /** Sessions that still wait. */
  waiters: z.array(z.string()),
  pods: z.array(
    z.object({
      browser: z.string(),
      pod: z.string(),
      phase: z.string(),
      ready: z.boolean(),
      /** It shows that its browser is in use. */
      marked: z.boolean().default(false),
    }),
  ),
});
export type FinalPool = z.infer<typeof FinalPool>;

/** The last event: the state after convergence, and the writes during the quiet time (leader leases left out). */
export const EndEvent = eventOf("end", {
  pools: z.array(FinalPool),
  quiet: z.object({
    forMs: z.number(),
    /** One text for each write that was seen, such as `pods/x MODIFIED`. */
    etcdWrites: z.array(z.string()),
    redisWrites: z.array(z.string()),
  }),
});
