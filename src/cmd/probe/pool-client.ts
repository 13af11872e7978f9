/** A client of the HTTP API without the SDK. It repeats a request when the service says so. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ProbeConfig } from "./probe-config.ts";

const Condition = z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() });

const Pool = z.object({
  id: z.string(),
  available_count: z.number(),
  /** As `kubectl get bp -o yaml` shows them. */
  conditions: z.array(Condition).default([]),
});
export type Pool = z.infer<typeof Pool>;

const Session = z.object({ session_id: z.string(), cdp_ws_url: z.url() });
type Session = z.infer<typeof Session>;

export type PoolClient = {
  find(idOrName: string): Promise<Pool>;
  /** A pool of one headless browser. */
  create(name: string): Promise<Pool>;
  /** Deletes a pool even with browsers in use, and ends those. */
  remove(id: string): Promise<void>;
  /** Throws when no browser is free within this time. */
  acquire(id: string, seconds: number): Promise<Session>;
  release(id: string, session: Session): Promise<void>;
};

/**
 * How often a request is repeated when the service asks for it (503, 429), after the time that it names or a second.
 */
const repeats = 10;

const Problem = z.object({
  code: z.string().catch("no code"),
  message: z.string().catch("the answer is none of browserpool's; is the URL right?"),
});

const problemOf = async (response: Response): Promise<string> => {
  const { code, message } = Problem.parse(await response.json().catch(() => ({})));
  return `${response.status} ${code}: ${message}`;
};

/** Seconds to wait before a request is repeated. What stands between may answer with a date. */
const retryAfterOf = ({ headers }: Response): number => {
  const seconds = Number(headers.get("retry-after") ?? 1);
  return Number.isNaN(seconds) ? 1 : seconds;
};

/** Every call ends when `signal` is aborted. Errors contain the request and the answer, but never the key. */
export const createPoolClient = ({ url, apiKey }: ProbeConfig, signal: AbortSignal): PoolClient => {
  const send = async (method: string, path: string, body?: object): Promise<Response> => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) };
    try {
      return await fetch(url + path, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
    } catch (cause) {
      signal.throwIfAborted();
      // fetch says no more than that it failed; its cause says why.
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
      throw new Error(`${url} can't be reached: ${reason instanceof Error ? reason.message : reason}`, { cause });
    }
  };
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    for (let left = repeats; ; left--) {
      const response = await send(method, path, body);
      if (response.ok) return response.status === 204 ? undefined : response.json();
      const problem = await problemOf(response);
      if (left === 0 || (response.status !== 503 && response.status !== 429))
        throw new Error(`${method} ${path} was answered with ${problem}`);
      await sleep(1000 * retryAfterOf(response), undefined, { signal });
    }
  };
  const pathOf = (id: string): string => `/browser_pools/${encodeURIComponent(id)}`;
  return {
    find: async (idOrName) => Pool.parse(await call("GET", pathOf(idOrName))),
    create: async (name) => Pool.parse(await call("POST", "/browser_pools", { name, size: 1, headless: true })),
    async remove(id) {
      await call("DELETE", pathOf(id), { force: true });
    },
    async acquire(id, seconds) {
      const session = await call("POST", `${pathOf(id)}/acquire`, { acquire_timeout_seconds: seconds });
      if (session === undefined) throw new Error(`no browser was free within ${seconds} s`);
      return Session.parse(session);
    },
    async release(id, { session_id }) {
      await call("POST", `${pathOf(id)}/release`, { session_id, reuse: false });
    },
  };
};
