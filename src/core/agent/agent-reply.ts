import type { AgentState } from "../protocol/agent-api.ts";
import type { MissingArchives } from "../protocol/browser-setup.ts";
import type { ProfileSaveState } from "../protocol/profile-save.ts";

/** The agent's error codes and their HTTP status. */
const statusOf = {
  bad_request: 400,
  missing: 404,
  not_supported_here: 400,
  disk_full: 413,
  forbidden: 403,
  conflict: 409,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  fill_in_progress: 409,
  profile_loaded: 409,
  profile_refused: 409,
  replay_in_progress: 409,
  screen_too_small: 409,
  viewport_refused: 409,
  not_holder: 409,
  stale_fence: 409,
  payload_too_large: 413,
  upgrade_required: 426,
  too_many_requests: 429,
  internal_error: 500,
  awaits_setup: 503,
  not_ended: 409,
  browser_unhealthy: 503,
  resetting: 503,
  stopping: 503,
} as const;

export type AgentErrorCode = keyof typeof statusOf;

/** What a feature answers, as its contract says. */
type FeatureState = { readonly [field: string]: string | number | boolean };

/** An answer in JSON, which the agent proves; or bytes, whose digest the caller knows from such an answer. */
export type AgentReply = {
  status: number;
  body:
    | AgentState
    | MissingArchives
    | ProfileSaveState
    | FeatureState
    | AsyncIterable<Uint8Array>
    | { answer: unknown }
    | { code: AgentErrorCode; message: string; now?: number }
    | { ok: true };
};

/** An error answer; `message` is for people and names no token. */
export const refusal = (code: AgentErrorCode, message: string): AgentReply => ({
  status: statusOf[code],
  body: { code, message },
});

/** The answer to a token that is missing or not valid, with the agent's time: the caller's clock may be wrong. */
export const unauthorized = (): AgentReply => ({
  status: statusOf.unauthorized,
  body: {
    code: "unauthorized",
    message: "a token for this agent is required: Authorization: Bearer <token>",
    now: Date.now(),
  },
});

/** Error answers that several calls share. */
export const refusals = {
  stale_fence: refusal("stale_fence", "the fence is not above the highest that this browser has seen"),
  not_holder: refusal("not_holder", "this session and fence do not hold the browser"),
  other_archive: refusal("bad_request", "the bytes are not those of this archive"),
  profile_loaded: refusal("profile_loaded", "the browser has a profile already"),
  profile_refused: refusal("profile_refused", "the profile can't be unpacked"),
  screen_too_small: refusal("screen_too_small", "the screen can't become larger than at the browser's start"),
  viewport_refused: refusal("viewport_refused", "the browser's windows did not take the size"),
  awaits_setup: refusal("awaits_setup", "the browser starts when the operator has sent its setup"),
  browser_unhealthy: refusal("browser_unhealthy", "the browser does not answer DevTools"),
  resetting: refusal("resetting", "the browser is being made anew"),
  stopping: refusal("stopping", "the agent is stopping; no caller gets this browser any more"),
  not_found: refusal("not_found", "there is nothing at this path"),
  session_not_found: refusal("not_found", "this session does not hold the browser"),
  replay_in_progress: refusal("replay_in_progress", "the browser is being recorded already"),
  fill_in_progress: refusal("fill_in_progress", "another fill is in progress in this browser"),
  too_many_requests: refusal("too_many_requests", "the session has too many open connections"),
  too_many_streams: refusal("too_many_requests", "this browser's agent has too many open streams"),
};
