/** What a client asks of the service; every call and what came of it stands in the history. */

import { Agent, request } from "undici";
import { newId } from "../../../src/core/objects/new-id.ts";
import type { Pool } from "../pools.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { type Call, createCallLog, type Outcome, reasonOf } from "./call-log.ts";
import { type Cdp, openCdp, type Session } from "./cdp.ts";

export type AcquireRequest = {
  waitSeconds: number;
  idempotencyKey?: string;
  /** Hangs up after this time, ms. */
  hangUpMs?: number;
};

/** `retry`: nothing is held, and it may go better soon. */
export type Acquired = { kind: "held"; session: Session } | { kind: "timeout" | "hung-up" | "retry" | "refused" };

type Released = "ok" | "gone" | "unclear";

export type ServiceCalls = {
  acquire(pool: Pool, request: AcquireRequest): Promise<Acquired>;
  release(session: Session, reuse: boolean): Promise<Released>;
  /** Ends the session by its own path. */
  remove(session: Session): Promise<Released>;
  /** Undefined when it is refused. */
  connect(session: Session): Promise<Cdp | undefined>;
};

type CallerOptions = {
  client: string;
  /** The replica for the next request, as a load balancer would choose it. */
  nextUrl: () => string;
  apiKey: string;
  http: Agent;
  recorder: Recorder;
};

/** Connections to all replicas, shared by all clients of a history. */
export const createHttp = (): Agent => new Agent({ keepAliveTimeout: 10_000, connect: { timeout: 2000 } });

/** On top of the time that the caller is willing to wait, ms: what takes longer counts as no answer. */
const patienceMs = 8000;
const releaseMs = 8000;

type Request = { method: "POST" | "DELETE"; path: string; body?: object; idempotencyKey?: string | undefined };
type Answer = { status: number; text: string };

/** Statuses after which a client tries again. */
const mayGoBetter = (status: number): boolean => status >= 500 || status === 429 || status === 409;

/** What an answer to an acquire means. `answer`: a text says why none came. */
const acquiredBy = (
  answer: Answer | string,
  pool: Pool,
  isHungUp: boolean,
): { outcome: Outcome; acquired: Acquired } => {
  if (typeof answer === "string" && isHungUp) return { outcome: { outcome: "hung-up" }, acquired: { kind: "hung-up" } };
  if (typeof answer === "string") return { outcome: { outcome: "cut", detail: answer }, acquired: { kind: "retry" } };
  const { status, text } = answer;
  if (status === 204) return { outcome: { outcome: "timeout", status }, acquired: { kind: "timeout" } };
  if (status !== 200)
    return {
      outcome: { outcome: "error", status, detail: text.slice(0, 200) },
      acquired: { kind: mayGoBetter(status) ? "retry" : "refused" },
    };
  const { session_id: id, cdp_ws_url: cdpUrl } = JSON.parse(text);
  return {
    outcome: { outcome: "held", status, session: id },
    acquired: { kind: "held", session: { id, cdpUrl, pool } },
  };
};

export const createServiceCalls = (options: CallerOptions): ServiceCalls => {
  const { client, nextUrl, apiKey, http, recorder } = options;
  const begin = createCallLog(client, recorder);

  const send = async ({ method, path, body, idempotencyKey }: Request, signal: AbortSignal): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    };
    const sent = { dispatcher: http, method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await request(nextUrl() + path, sent);
    return { status: response.statusCode, text: await response.body.text() };
  };
  const endSession = async (call: Call, ask: Request): Promise<Released> => {
    const end = begin(call);
    try {
      const { status, text } = await send(ask, AbortSignal.timeout(releaseMs));
      const outcome = status === 204 || status === 200 ? "ok" : status === 404 ? "gone" : "error";
      end({ outcome, status, ...(outcome === "error" && { detail: text.slice(0, 200) }) });
      return outcome === "error" ? "unclear" : outcome;
    } catch (error) {
      end({ outcome: "cut", detail: reasonOf(error) });
      return "unclear";
    }
  };
  const acquire = async (pool: Pool, { waitSeconds, idempotencyKey, hangUpMs }: AcquireRequest): Promise<Acquired> => {
    const request = idempotencyKey ?? newId();
    const asked = { waitMs: waitSeconds * 1000, request, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    const end = begin({ op: "acquire", pool: pool.uid, ...asked });
    const patience = AbortSignal.timeout(waitSeconds * 1000 + patienceMs);
    const hangUp = hangUpMs === undefined ? undefined : AbortSignal.timeout(hangUpMs);
    const signal = hangUp ? AbortSignal.any([patience, hangUp]) : patience;
    const path = `/browser_pools/${pool.id}/acquire`;
    const body = { acquire_timeout_seconds: waitSeconds, tags: { request } };
    const answer = await send({ method: "POST", path, body, idempotencyKey }, signal).catch(reasonOf);
    const { outcome, acquired } = acquiredBy(answer, pool, hangUp?.aborted ?? false);
    end(outcome);
    return acquired;
  };

  return {
    acquire,
    release: ({ id, pool }, reuse) =>
      endSession(
        { op: "release", pool: pool.uid, session: id, reuse },
        { method: "POST", path: `/browser_pools/${pool.id}/release`, body: { session_id: id, reuse } },
      ),
    remove: ({ id, pool }) =>
      endSession({ op: "delete", pool: pool.uid, session: id }, { method: "DELETE", path: `/browsers/${id}` }),
    connect: (session) => openCdp(session, nextUrl(), begin),
  };
};
