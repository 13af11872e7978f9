/**
 * What a client asked of the service and what it was told: one `call`, and one `return` unless the client was killed.
 *
 *   acquire   held (200, `session`) · timeout (204) · error (any other status) · hung-up (the client left) · cut (no answer came)
 *   release   ok (204) · gone (404) · error · hung-up · cut
 *   delete    the same; ends a session by DELETE /browsers/{session}
 *   connect   an upgrade through the gateway: ok · gone (404, 401) · error · cut
 *   cdp       one command on an open socket: answered · cut
 *
 * After `error`, `hung-up` and `cut` the operation may have happened or not: checks take both for possible.
 */
import { z } from "zod";
import { eventOf } from "./event-base.ts";

const identity = {
  /** Names the operation: the same in its call and its return, unique in the history. */
  id: z.string(),
  client: z.string(),
  /** Uid of the pool object that was asked. */
  pool: z.string(),
  op: z.enum(["acquire", "release", "delete", "connect", "cdp"]),
};

export const ClientCall = eventOf("call", {
  ...identity,
  /** All but acquire: the session it is about. */
  session: z.string().optional(),
  /**
   * Acquire: sent as the tag `request`, by which the script's and the agent's records of a session are found again when
   * its caller never learned of it. Repetitions of one request (the same Idempotency-Key) share it.
   */
  request: z.string().optional(),
  /** Acquire: how long the caller is willing to wait, ms, as it told the service. */
  waitMs: z.number().optional(),
  /** Acquire: the idle time-out that was asked for, ms; absent: the pool's. */
  idleTimeoutMs: z.number().optional(),
  /** Acquire: calls with the same key are one request and may have one browser. */
  idempotencyKey: z.string().optional(),
  /** Release. */
  reuse: z.boolean().optional(),
  /** Cdp: unique text that the command carries, found again in the agent's log. */
  command: z.string().optional(),
});

export const ClientReturn = eventOf("return", {
  ...identity,
  outcome: z.enum(["held", "timeout", "ok", "gone", "error", "hung-up", "cut", "answered"]),
  /** The HTTP status, when an answer came. */
  status: z.int().optional(),
  /** Acquire: the session that is held; else the one that was named in the call. */
  session: z.string().optional(),
  /** Why, for people. */
  detail: z.string().optional(),
});
export type ClientReturn = z.infer<typeof ClientReturn>;
