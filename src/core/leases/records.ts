/**
 * What the scripts keep in Redis, as JSON.
 *
 * States of a browser, and the scripts that lead from one to the next:
 *
 *                 repair            take                release
 *   (starting) ────────────► idle ─────────────► leased ─────────────► releasing
 *                             ▲ ▲                 │   │                    │  │
 *                             │ └─────────────────┼───┼──────offer─────────┘  │
 *                      repair │                   │   │                       │
 *                             │  ┌────reject──────┘   │ release, no reuse     │
 *                             │  ▼                    ▼                       │
 *                           suspect ────repair───► retired ───close───► (gone)│
 *                                ▲                                            │
 *                                └──────────────────suspect───────────────────┘
 *
 * `offer` gives a browser to the longest waiting caller at once, or makes it idle. `retire` and `leave` retire an idle
 * browser. `close` removes a browser of any state whose pod has ended.
 *
 * `releasing` lasts while the agent resets the browser. `starting` has no record: the pod is not in Redis yet, or Redis
 * has lost it. No caller gets a `suspect` or `retired` browser. An inspection (inspect.ts) asks the agent, and `repair`
 * writes down what it says. Where Redis has lost data, an inspection leads from any state to `leased`, when the agent
 * holds a lease, or to `idle`, when a grant was never bound, or an end or an offer was lost. A restored lease has its
 * session, request and fence, but neither ticket nor channel of its own, because no caller waits for it.
 *
 * A browser with a leaving mark (`leaving`, for example because its node is drained) is retired wherever it would
 * become `idle`; until then its holder keeps it. Redis may lose the mark: the operator sees the reason again and sets
 * it anew.
 */
import { z } from "zod";
import { parseTraceparent, type TraceContext } from "../../platform/tracing/trace-context.ts";
import { AllowlistRecord } from "../model/sessions/allowlist.ts";
import { Location } from "../model/settings/location.ts";
import { AgentViewport, CaptureSettings, ChromiumVersion } from "../protocol/agent-api.ts";

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
  /** `seq` of its newest lease; 0 before the first. */
  seq: z.int(),
  state: z.enum(["idle", "leased", "releasing", "suspect", "retired"]),
  /** When it entered this state, ms since 1970. */
  since: z.int(),
  /**
   * `leased`: its holder. `releasing`, `suspect`: the session that ended or was rejected last; the agent may not know
   * of its end.
   */
  session: z.string().optional(),
  reason: z.string().optional(),
  /** Why it is retired as soon as it would become idle. */
  leaving: z.string().optional(),
  /** Since when, ms since 1970. */
  leaving_since: z.int().optional(),
  /** `idle`: former holders have left it as it stands (`AgentState.kept`). In other states: it was so before. */
  kept: z.boolean().optional(),
  /** As the agent told it when the browser was registered. */
  chromium: ChromiumVersion.optional(),
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
  /** ms since 1970. */
  created_at: z.int(),
  /** Place in the queue (scripts/includes/ticket.lua). */
  ticket: z.coerce.string(),
  channel: z.string(),
  /** What the caller asked for, as `SessionRequest` in JSON. */
  request: z.string(),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

/**
 * What is kept of a lease that has ended, in the hash `ended` of its pool under the session's id
 * (scripts/includes/end-lease.lua): what callers are told of it, and what a repeated release needs. A request of more
 * than 512 bytes comes without `report` and telemetry, then without start URL, tags, vaults, what its holder has changed
 * and what a blank browser was made with, until the rest is short enough. So it has about a kilobyte at most.
 */
export const EndedLease = LeaseRecord.omit({ ticket: true, channel: true }).extend({
  /** ms since 1970. */
  ended_at: z.int(),
  /** Why it ended. */
  reason: z.string(),
});
export type EndedLease = z.infer<typeof EndedLease>;

/** A lease, whether it runs or has ended. */
export type AnyLease = Omit<LeaseRecord, "ticket" | "channel"> & Partial<Pick<EndedLease, "ended_at" | "reason">>;

/** What a caller asked for with its lease, and the properties of its pool at that time. Kept with the lease. */
export const SessionRequest = z.object({
  name: z.string().optional(),
  tags: z.record(z.string(), z.string()).optional(),
  start_url: z.string().optional(),
  /** When its caller asked for it, ms since 1970 by the clock of the replica that served the caller. */
  asked_at: z.int().optional(),
  timeout_seconds: z.int(),
  max_session_seconds: z.int(),
  telemetry: CaptureSettings.optional(),
  /** What it leaves in its folder is stored at its end. */
  keeps_files: z.boolean().optional(),
  /**
   * Its caller lets the agent tell what came of its first navigation. `recipe`: of a browser with the configuration of
   * this hash, as src/features/sites/site-recipe.ts has it.
   */
  report: z.object({ config: z.string(), recipe: z.unknown() }).optional(),
  /** The owner of its lease: its pool, or the on-demand browser itself. */
  pool: z.object({ id: z.string(), uid: z.string(), name: z.string().optional() }),
  on_demand: z.boolean().optional(),
  /** What the browser was made with, of a blank one: what differs from the defaults of all settings (`SessionConfig`). */
  made: z.record(z.string(), z.unknown()).optional(),
  gpu: z.boolean().optional(),
  /** The vaults that were attached to an on-demand browser when it was made. */
  vaults: z.array(z.object({ id: z.string() })).optional(),
  /** Vaults were attached to it; kept of an ended session, whose `vaults` may be left out. */
  with_vaults: z.boolean().optional(),
  project: z.string(),
  /** The `traceparent` of the request that it was acquired by, where that is traced. */
  trace: z.string().optional(),
  /** The `tracestate` beside it. */
  trace_state: z.string().optional(),
  /** What its holder has changed in the browser while it runs. `proxy_id`: empty when the browser has none any more; `location`: all of it. */
  changed: z
    .object({
      viewport: AgentViewport.optional(),
      profile: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
      proxy_id: z.string().optional(),
      location: Location.optional(),
      allowlist: AllowlistRecord.optional(),
    })
    .optional(),
});
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The request of a lease, active or ended. Throws for any other text. */
export const requestOf = ({ request }: { request: string }): SessionRequest =>
  SessionRequest.parse(JSON.parse(request));

/** The trace that a session was acquired in, by its request; undefined for none that is recorded. */
export const acquiredIn = ({
  trace,
  trace_state,
}: Pick<SessionRequest, "trace" | "trace_state">): TraceContext | undefined => parseTraceparent(trace, trace_state);

/** Why a session ended. The API answers it while the ended lease is kept. */
export type EndReason =
  | "released"
  | "deleted"
  | "timeout"
  | "max_lifetime"
  | "browser_crashed"
  | "browser_lost"
  | "pool_deleted"
  | "node_drained"
  | "pod_deleted";

/** Told of each lease by the process whose script has ended it, once. */
export type OnLeaseEnded = (lease: LeaseRecord, reason: EndReason) => void;

/**
 * The reason of a suspect at whose address something answered that does not prove to be its agent
 * (src/core/protocol/agent-proof.ts).
 */
export const notGenuine = "not_genuine";

/** An agent's refusal of a token. It tells nothing about the browser, so it is no reason for a state. */
export const unauthorized = "unauthorized" as const;

/** The reason of a suspect whose agent confirmed a bind and named another lease. Its later answers can't be trusted. */
export const agentMismatch = "agent_mismatch";
