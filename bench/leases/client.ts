import { Pool } from "undici";

/** Where the service under load is, and what its callers need to know. Travels to load processes. */
export type Target = { url: string; apiKey: string; poolId: string };

export type Session = { session_id: string; cdp_ws_url: string };

/** A caller that is as light as can be: it shares the machine with what it measures. */
export type LoadClient = {
  /** Rejects unless a browser is handed out. */
  acquire(waitSeconds?: number): Promise<Session>;
  release(session: Session, reuse?: boolean): Promise<void>;
  /** A POST that is answered with 204. */
  post(path: string, body: object): Promise<void>;
  /** Opens that many connections, so that their making is no part of what follows. */
  connect(count: number): Promise<void>;
  close(): Promise<void>;
};

type Send = { wanted: number; by?: Pool };

/**
 * `connections`: at most, and as many again for all but acquires, so that whoever gives a browser back is not held up by those
 * who wait for it. Callers beyond that wait for a free one.
 */
export const createLoadClient = ({ url, apiKey, poolId }: Target, connections: number): LoadClient => {
  const newPool = (): Pool => new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const pools = { acquire: newPool(), other: newPool() };
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const path = `/browser_pools/${poolId}`;
  const send = async (to: string, body: object, { wanted, by = pools.other }: Send): Promise<string> => {
    const answer = await by.request({ method: "POST", path: to, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== wanted) throw new Error(`${to} was answered with ${answer.statusCode}: ${text}`);
    return text;
  };
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
