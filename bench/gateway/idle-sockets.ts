/** Measures the memory that an idle CDP connection costs the api process. */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { ApiReplica } from "../../test/support/cluster.ts";
import type { PoolClient } from "../../test/support/pool-client.ts";
import type { Row } from "../section.ts";

/** The most sockets that an agent allows one session. */
const socketsPerSession = 64;
const openAtOnce = 32;

export type Memory = { rss: number; heapUsed: number; external: number };

/**
 * Reads the memory, after a garbage collection, of an api that runs with `--expose-gc --import memory-on-signal.ts`.
 */
export const memoryReader = (api: ApiReplica): (() => Promise<Memory>) => {
  let count = 0;
  return async () => {
    count += 1;
    api.kill("SIGUSR2");
    return (await api.logged(`memory ${count}`)) as unknown as Memory;
  };
};

const openSocket = async (url: string): Promise<WebSocket> => {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.on("error", () => undefined);
  return socket;
};

const openMany = async (urls: string[], signal: AbortSignal): Promise<WebSocket[]> => {
  const sockets: WebSocket[] = [];
  for (let index = 0; index < urls.length; index += openAtOnce) {
    signal.throwIfAborted();
    sockets.push(...(await Promise.all(urls.slice(index, index + openAtOnce).map(openSocket))));
  }
  return sockets;
};

/**
 * Acquires all browsers of the pool and opens as many sockets as their sessions may have. The api runs with
 * `memory-on-signal.ts`.
 */
export const measureIdleSockets = async (
  api: ApiReplica,
  { pool, sessions: count, signal }: { pool: PoolClient; sessions: number; signal: AbortSignal },
): Promise<{ rows: Row[]; detail: unknown }> => {
  const readMemory = memoryReader(api);
  const sessions = await Promise.all(Array.from({ length: count }, () => pool.acquire()));
  const urls = sessions.flatMap(({ cdp_ws_url }) => Array.from({ length: socketsPerSession }, () => cdp_ws_url));
  // Compiles the code of an upgrade and connects to Redis before the first reading.
  for (const socket of await openMany(urls.slice(0, 4), signal)) socket.terminate();
  await sleep(500, undefined, { signal });
  const before = await readMemory();
  const sockets = await openMany(urls, signal);
  const during = await readMemory();
  for (const socket of sockets) socket.terminate();
  await Promise.all(sessions.map((session) => pool.release(session)));
  const after = await readMemory();
  const each = (of: (memory: Memory) => number): number => (of(during) - of(before)) / sockets.length;
  const target = { of: "measured", atMost: 64_000 } as const;
  const row = (what: string, measured: number): Row => ({
    what: `each of ${sockets.length} idle sockets, ${what}`,
    unit: "bytes",
    measured,
    target,
  });
  return {
    rows: [
      row(
        "resident",
        each(({ rss }) => rss),
      ),
      row(
        "heap and buffers",
        each(({ heapUsed, external }) => heapUsed + external),
      ),
    ],
    detail: { idleSockets: { sockets: sockets.length, before, during, after } },
  };
};
