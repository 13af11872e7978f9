import { Pool } from "undici";
import { callJson } from "../../src/core/leases/agent/agent-call.ts";

/** Address of the service under load, and what its callers need. It is sent to load processes. */
export type Target = {
  url: string;
  apiKey: string;
  poolId: string /** Left out: the default project. */;
  projectId?: string;
};

export type Session = { session_id: string; cdp_ws_url: string };

/** A caller that costs as little as possible: it shares the machine with the service that it measures. */
export type LoadClient = {
  /** Rejects when the answer has no browser. */
  acquire(waitSeconds?: number): Promise<Session>;
  release(session: Session, reuse?: boolean): Promise<void>;
  /** Sends a POST that must be answered with 204. */
  post(path: string, body: object): Promise<void>;
  /** Opens that many connections in advance, so that later measurements don't include it. */
  connect(count: number): Promise<void>;
  close(): Promise<void>;
};

type Send = { wanted: number; by?: Pool };

/** Longer than any caller waits for a browser. */
const answerMs = 600_000;

/**
 * `connections`: the limit for acquires. Other calls have a pool of the same size of their own, so that releases don't
 * queue behind waiting acquires. Further calls wait for a free connection.
 */
export const createLoadClient = ({ url, apiKey, poolId, projectId }: Target, connections: number): LoadClient => {
  const newPool = (): Pool => new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const pools = { acquire: newPool(), other: newPool() };
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    ...(projectId !== undefined && { "x-kernel-project-id": projectId }),
  };
  const path = `/browser_pools/${poolId}`;
  const send = (to: string, body: object, { wanted, by = pools.other }: Send): Promise<string> =>
    callJson(by, { origin: url, path: to, method: "POST", headers, body, timeoutMs: answerMs }, (answer) => {
      const text = answer.body.toString();
      if (answer.status !== wanted) throw new Error(`${to} was answered with ${answer.status}: ${text}`);
      return text;
    });
  return {
    async acquire(waitSeconds) {
      const body = waitSeconds === undefined ? {} : { acquire_timeout_seconds: waitSeconds };
      return JSON.parse(await send(`${path}/acquire`, body, { wanted: 200, by: pools.acquire })) as Session;
    },
    release: async ({ session_id }, reuse = true) =>
      void (await send(`${path}/release`, { session_id, reuse }, { wanted: 204 })),
    post: async (to, body) => void (await send(to, body, { wanted: 204 })),
    async connect(count) {
      const open = async (by: Pool): Promise<void> => (await by.request({ method: "GET", path: "/livez" })).body.dump();
      await Promise.all(Array.from({ length: count }, () => Promise.all(Object.values(pools).map(open))));
    },
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
    },
  };
};
