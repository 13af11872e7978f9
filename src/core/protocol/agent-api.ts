/**
 * The agent's HTTP API. The agent, its callers and the simulated node of the tests share these schemas.
 * Every call except the probes carries `Authorization: Bearer <agent token>` (src/core/protocol/agent-token.ts).
 *
 *   PUT    /lease   BindLease → 200 AgentState | 409 stale_fence | 503 browser_unhealthy | 503 resetting | 503 stopping
 *   DELETE /lease   EndLease  → 200 AgentState | 409 not_holder  | 503 browser_unhealthy | 503 stopping
 *   GET    /reset[?timings=true]  → 200 AgentState when no reset is under way (any more), within 45 s | 503 as DELETE
 *   PUT    /change  BrowserChange, sealed (browser-change.ts) → 200 MissingArchives | 409 not_holder and what it names
 *   PUT    /start   StartBrowser, sealed (browser-start.ts) → 200 MissingArchives | 409 not_holder; of a blank browser only
 *   PUT    /archives/{sha256}  the bytes, sealed → 200 MissingArchives | 404 when no change of the holder names it
 *   GET    /state[?epoch=N]   → 200 AgentState, with the lease's request | 400 bad_request
 *   GET    /logs?session=…    → 200 lines of the lease's logs (features/logs/agent/api.ts) | 404 when that session does not hold the browser | 429
 *   GET, DELETE /files?session=…  what a session has left in its folder (features/files/agent/api.ts)
 *   PUT, GET, DELETE /replays/{id}  begins, reads and ends a recording of the lease (features/recordings/agent/api.ts)
 *   GET    /livez /readyz     → 200 | 503, no token (kubelet's probes)
 *   GET    /cdp               upgrade to a CDP WebSocket; header `x-browserpool-session` names the lease's session;
 *                             404 when that session does not hold the browser
 *   GET    /view              upgrade to a live view, as `/cdp`; header `x-browserpool-view: read-only`: without input
 *
 * A call with the header `x-browserpool-nonce` gets the agent's proof with its answer, also with an error
 * (agent-proof.ts).
 *
 * That of a stream of lines comes with its head. A stream ends with its lease.
 *
 * Errors are `{code, message}`; 401 also has `now`, the agent's time in ms since 1970, because tokens expire by its
 * clock. A call without a good token does nothing and tells nothing about the browser: the caller goes by that time and
 * repeats the call once. PUT and DELETE are idempotent: the same call with the same fence gets the same answer. A PUT
 * whose caller hangs up before the answer leaves no lease. A DELETE that overtakes its PUT uses up the fence, so a
 * caller that gave up can be sure that the agent binds nothing.
 *
 * The end of a lease makes the browser anew, unless its `reuse` says otherwise or no client ever used the browser. The
 * answer then comes at once with `resetting: true`, and `GET /reset` tells when the browser is up again. An agent never
 * gives a browser to a lease before everything of the last one is gone: a bind waits for the reset for a moment, and is
 * refused after that. A browser whose `reuse` was `keep` goes to a lease with `takes_kept` when each of its tabs
 * answers, to any other one only after a reset.
 *
 * An agent that is asked for its state under an epoch refuses binds of lower epochs from then on, and drops such a bind
 * that is in progress. So its answer stays true until a bind of that epoch or a later one arrives. A lease that is held
 * stays.
 *
 * A stopping agent serves the lease that it holds. It answers every other bind with `stopping` and does not use up its
 * fence. It answers the end of its lease with `stopping`, too: the lease is over, and no other caller may get the
 * browser.
 */
import { z } from "zod";

/** The header that names the session on a CDP upgrade to the agent. */
export const sessionHeader = "x-browserpool-session";

/**
 * The header that says what a connection is for. `fill`: the API types stored values through it by CDP, and a browser
 * has one such connection at a time; the gateway never sends this. `glance`: a viewer of small pictures beside others,
 * whose connection is no use of the session and no client of its telemetry.
 */
export const purposeHeader = "x-browserpool-purpose";
/** The values of that header. */
export type Purpose = "fill" | "glance";

/**
 * The header of an upgrade to `/view` whose viewer only watches. The gateway sends it by the viewer's token and URL,
 * and passes on none of the client's.
 */
export const viewHeader = "x-browserpool-view";
/** The value of that header. */
export const readOnlyView = "read-only";

/**
 * A lease's fence: rises with every lease of one browser (docs/design.md, The lease protocol). The agent refuses calls
 * whose seq is not above the highest it has seen, or whose epoch is below it: neither ever falls.
 */
export const Fence = z.object({ epoch: z.int().min(0), seq: z.int().min(0) });
export type Fence = z.infer<typeof Fence>;

/** Negative when `a` is older than `b`, 0 when equal, positive when newer. */
export const compareFences = (a: Fence, b: Fence): number => a.epoch - b.epoch || a.seq - b.seq;

/** Longest id of a session, characters: an on-demand browser's session has the name of its object. */
export const maxSessionId = 253;

/**
 * Longest `request` of a lease, characters: tags of 8192 characters and a start URL with every character escaped,
 * telemetry settings of 8 KiB, 20 vaults.
 */
export const maxRequestChars = 96 * 1024;

/** The number in `?epoch=`. */
export const Epoch = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** The longest life of a lease, s: 72 hours. */
const maxLeaseSeconds = 259_200;

/** Telemetry settings in their wire form (core/model/settings/telemetry.ts), as the API has checked them. */
export const CaptureSettings = z.record(z.string(), z.unknown());

/** The agent ends the browser when its lease has had no open socket for this long, s. */
export const TimeoutSeconds = z.int().min(1).max(maxLeaseSeconds);

/** The body of `PUT /lease`. */
export const BindLease = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  timeout_seconds: TimeoutSeconds,
  /** The agent opens it after the bind, best effort, and does not wait for it. */
  start_url: z.string().max(2048).optional(),
  /** The agent ends the browser when the lease is this old, s. */
  max_seconds: z.int().min(1).max(maxLeaseSeconds),
  /** The holder lets the agent watch its first navigation (`SeenOutcome`). Left out: it watches nothing. */
  observe: z.boolean().optional(),
  /** Merged onto the settings that the browser was made with, for this lease alone. */
  telemetry: CaptureSettings.optional(),
  /** The lease takes a browser that was kept (`AgentState.kept`). Left out: no; such a browser is made anew first. */
  takes_kept: z.boolean().optional(),
  /** The agent keeps what the lease leaves in its folder, until the API has stored it (features/files/agent/api.ts). */
  keep_files: z.boolean().optional(),
  /** The answer is to have `timings`. */
  timings: z.boolean().optional(),
  /** What the caller asked for. The agent keeps it as it is, and returns it so that the lease can be restored. */
  request: z.string().max(maxRequestChars),
});
export type BindLease = z.infer<typeof BindLease>;

/** The longest step of a call that an agent tells, ms: longer than any call to it. */
const maxStepMs = 60_000;

const StepMs = z.number().min(0).max(maxStepMs).optional();

/**
 * How long the steps of one call took, ms, in their order: the browser was made anew or its tabs were tried, it
 * answered, the fence let the lease in. Steps that were not needed are left out.
 */
export const AgentTimings = z.object({ reset: StepMs, health_check: StepMs, fence: StepMs });
export type AgentTimings = z.infer<typeof AgentTimings>;

/**
 * What becomes of a browser after a lease. `reset`: it is made anew with its configuration; `keep`: the next holder
 * gets it as it is; `none`: there is no next holder, the operator destroys it.
 */
export const Reuse = z.enum(["reset", "keep", "none"]);
export type Reuse = z.infer<typeof Reuse>;

/** The body of `DELETE /lease`: the lease to end, by session and fence. */
export const EndLease = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  reuse: Reuse,
});
export type EndLease = z.infer<typeof EndLease>;

/** Why a lease ends that its holder does not end: by itself, or with its pod. */
export const LeaseEnd = z.enum(["timeout", "max_lifetime", "stopped"]);
export type LeaseEnd = z.infer<typeof LeaseEnd>;

/**
 * What came of the first navigation of a session with `observe`. `target`: its URL without login, query and fragment.
 * Nothing else of the page or of the session leaves the agent.
 */
export const SeenOutcome = z.object({
  session_id: z.string(),
  target: z.string().max(2048),
  verdict: z.enum(["accessed", "blocked"]),
});
export type SeenOutcome = z.infer<typeof SeenOutcome>;

/** A version of Chromium, such as 156.0.7800.12. */
export const ChromiumVersion = z.string().regex(/^\d{1,5}(\.\d{1,6}){3}$/);

/** The state of an agent and its browser, also the answer to every bind and end. */
export const AgentState = z.object({
  pod_uid: z.string(),
  /**
   * The highest fence seen; `{epoch: 0, seq: 0}` before the first lease. `/state?epoch=` raises its epoch, too. Only
   * leases raise its seq, so one browser's leases are ordered by seq, whatever their epochs are.
   */
  fence: Fence,
  /** The session whose bind waits for the health check now: the lease is neither held nor over. */
  binding: z.string().nullable(),
  /** The browser is being made anew, or the tabs of a kept browser are tried. */
  resetting: z.boolean(),
  /** A former holder has used the browser, and its pool keeps browsers as they stand. Left out: no. */
  kept: z.boolean().optional(),
  /** The lease that holds the browser now, with the number of its open CDP sockets. */
  lease: z
    .object({
      session_id: z.string(),
      epoch: z.int(),
      seq: z.int(),
      connections: z.int(),
      bound_at: z.iso.datetime(),
      /** The bind's `request`; only in the answer of `/state`. */
      request: z.string().optional(),
    })
    .nullable(),
  /** Of the present lease, or of the last one for some minutes. */
  outcome: SeenOutcome.optional(),
  /**
   * Only in the answer of `/state`: the browser has ended for good, and the agent keeps its profile to be saved
   * (profile-save.ts).
   */
  ended: LeaseEnd.optional(),
  /** Only in the answer of `/state`, once it is known. */
  chromium: ChromiumVersion.optional(),
  /** Only in the answer of a call that asks for them. Bad ones count as none: they decide nothing. */
  timings: AgentTimings.optional().catch(undefined),
});
export type AgentState = z.infer<typeof AgentState>;

/**
 * Why an agent ended. The agent writes it as JSON to its termination log; the operator reads it from the pod's status.
 * `setup_refused`: Chromium does not take what the setup gives it, so no browser of this configuration starts.
 */
export const Termination = z.object({
  reason: z.enum([
    "timeout",
    "max_lifetime",
    "browser_crashed",
    "start_failed",
    "setup_refused",
    "reset_failed",
    "stopped",
  ]),
  message: z.string().max(500),
});
export type Termination = z.infer<typeof Termination>;

/** Pixels of a page, or of the screen of a browser that is not headless. `refresh_rate`: Hz. */
export const AgentViewport = z.object({
  width: z.int().min(1),
  height: z.int().min(1),
  refresh_rate: z.int().min(1).optional(),
});
export type AgentViewport = z.infer<typeof AgentViewport>;

/** The locale and the time zone that pages see. */
export const AgentLocation = z.object({ locale: z.string().min(2).max(16), timezone: z.string().min(1).max(64) });
export type AgentLocation = z.infer<typeof AgentLocation>;

/** The browser that an agent starts: JSON in the pod's `BROWSERPOOL_BROWSER` variable. */
export const BrowserConfig = z.object({
  headless: z.boolean(),
  kiosk_mode: z.boolean(),
  /** Start it without the signals of automation that can be left out. */
  stealth: z.boolean().optional(),
  /** The pod has a GPU. */
  gpu: z.boolean().optional(),
  viewport: AgentViewport,
  /** Left out: what the agent's environment says. */
  location: AgentLocation.optional(),
  start_url: z.string().max(2048).optional(),
  /** What is captured of each lease, unless the lease says otherwise; left out: nothing. */
  telemetry: CaptureSettings.optional(),
  /** The agent waits for a setup (browser-setup.ts) before it starts the browser. */
  awaits_setup: z.boolean().optional(),
  /** The agent starts no browser before the holder of a lease says which one (browser-start.ts): only `headless` counts. */
  blank: z.boolean().optional(),
});
export type BrowserConfig = z.infer<typeof BrowserConfig>;
