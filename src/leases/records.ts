/**
 * What the scripts keep in Redis, as JSON.
 *
 * States of a browser:
 *
 *   (starting) ──look──► idle ──take/offer──► leased ──release──► releasing ──offer──► idle
 *                         │                    │  │                   │
 *                         │ retire             │  └─release(retired)──┼──► retired ──close──► (gone)
 *                         └────────────────────┼──────────────────────┼──► retired ◄──┐ look
 *                                              └─reject─► suspect ◄───┘ suspect       │ (agent does not answer, or not healthy)
 *                                                            ├────────────────────────┘
 *                                                            └─look──► idle (agent answers and holds nothing)
 *
 * `starting` is not recorded: a pod that is not in Redis yet, or not any more. `suspect` and `retired` browsers are given to
 * nobody. A look (inspect.ts) asks the agent; where Redis has lost something it leads from any state to `leased`, when the agent
 * holds a lease, or to `idle`, when a grant was never bound, or an end or an offer was lost. A restored lease has its session,
 * request and fence, but neither ticket nor channel of its own: nobody waits for it.
 *
 * A browser that is to leave its pool (`leaving`: its node is drained, say) is retired on every way that leads to `idle`; who
 * holds it keeps it. Redis may lose the mark: what it is for is seen from outside, so it comes back.
 */
import { z } from "zod";

/** One browser in the hash `browsers` of its pool. */
export const BrowserRecord = z.object({
  /** The pod's uid. */
  id: z.string(),
  /** The pod's name, for people. */
  pod: z.string(),
  /** The agent's `host:port`. */
  address: z.string(),
  /** Hash of the configuration that made it. */
  config: z.string(),
  /** Of its newest lease; 0 before the first. */
  seq: z.int(),
  state: z.enum(["idle", "leased", "releasing", "suspect", "retired"]),
  /** When it came into this state, ms since the epoch. */
  since: z.int(),
  /** `leased`: who holds it. `releasing`, `suspect`: whose lease was ended or rejected last; its end may not have reached the agent. */
  session: z.string().optional(),
  reason: z.string().optional(),
  /** Why it is retired as soon as it would become idle. */
  leaving: z.string().optional(),
});
export type BrowserRecord = z.infer<typeof BrowserRecord>;

/** One lease in the hash `leases` of its pool. */
export const LeaseRecord = z.object({
  session: z.string(),
  browser: z.string(),
  pod: z.string(),
  address: z.string(),
  config: z.string(),
  epoch: z.int(),
  seq: z.int(),
  /** ms since the epoch. */
  created_at: z.int(),
  /** Place in the queue (scripts/includes/ticket.lua). */
  ticket: z.coerce.string(),
  channel: z.string(),
  /** What the caller asked for, as `SessionRequest` in JSON. */
  request: z.string(),
  /** Only with ended leases: ms since the epoch, and why. */
  ended_at: z.int().optional(),
  reason: z.string().optional(),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

/** What a caller asked for with its lease, and what was true of its pool then. Kept with the lease. */
export const SessionRequest = z.object({
  name: z.string().optional(),
  tags: z.record(z.string(), z.string()).optional(),
  start_url: z.string().optional(),
  timeout_seconds: z.int(),
  telemetry: z.unknown().optional(),
  /** Where its lease is kept: its pool, or the on-demand browser itself. */
  pool: z.object({ id: z.string(), uid: z.string(), name: z.string().optional() }),
  on_demand: z.boolean().optional(),
  gpu: z.boolean().optional(),
  /** Attached to an on-demand browser when it was made. */
  vaults: z.array(z.object({ id: z.string() })).optional(),
  project: z.string(),
});
export type SessionRequest = z.infer<typeof SessionRequest>;

/** Why a session ended; told to its caller and kept for a day. */
export type EndReason =
  | "released"
  | "deleted"
  | "timeout"
  | "browser_crashed"
  | "browser_lost"
  | "pool_deleted"
  | "pod_deleted";

/** Why a browser is suspect whose agent's word is not to be trusted any more: it said that it had bound a lease, and named another. */
export const agentMismatch = "false_word";
