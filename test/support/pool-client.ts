/** What a client of the HTTP API does with pools, and the processes behind its browsers. */
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { WebSocket } from "ws";
import { eventually } from "./eventually.ts";

/** Sends a request with a key of the organization. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Response>;

export type Session = { session_id: string; cdp_ws_url: string };
type Counts = { acquired: number; available: number };

export type PoolClient = {
  id: string;
  counts(): Promise<Counts>;
  /** Waits as long as the counts change. */
  whenCounts(wanted: Counts): Promise<void>;
  /** Waits for a browser. Rejects when the answer is not a session. */
  acquire(): Promise<Session>;
  /** The raw answer. `seconds`: how long to wait for a browser. */
  ask(seconds?: number): Promise<Response>;
  release(session: Pick<Session, "session_id">, reuse?: boolean): Promise<number>;
};

const client = (call: Call, id: string): PoolClient => {
  const path = `/browser_pools/${id}`;
  const counts = async (): Promise<Counts> => {
    const pool = (await (await call("GET", path)).json()) as { acquired_count: number; available_count: number };
    return { acquired: pool.acquired_count, available: pool.available_count };
  };
  const ask = (seconds = 30) => call("POST", `${path}/acquire`, { acquire_timeout_seconds: seconds });
  return {
    id,
    counts,
    whenCounts: async (wanted) => {
      let now = await counts();
      const what = () =>
        `${wanted.acquired} acquired and ${wanted.available} available; last seen: ${JSON.stringify(now)}`;
      while (!isDeepStrictEqual(now, wanted)) {
        const before = now;
        await eventually(what, async () => {
          now = await counts();
          return !isDeepStrictEqual(now, before);
        });
      }
    },
    ask,
    async acquire() {
      const response = await ask();
      if (response.status !== 200)
        throw new Error(`acquire was answered with ${response.status}: ${await response.text()}`);
      return (await response.json()) as Session;
    },
    release: async ({ session_id }, reuse = true) =>
      (await call("POST", `${path}/release`, { session_id, reuse })).status,
  };
};

/** A pool that already exists. */
export const poolAt = (call: Call, id: string): PoolClient => client(call, id);

/** Makes a pool of headless browsers that fills at once, and repeats the request as its 503 says. */
export const newPool = async (call: Call, size: number, fields: object = {}): Promise<PoolClient> => {
  const body = { size, headless: true, fill_rate_per_minute: 6000, ...fields };
  const response = await eventually("a pool is made", async () => {
    const answer = await call("POST", "/browser_pools", body);
    return answer.status !== 503 && answer;
  });
  if (response.status >= 300) throw new Error(`no pool: ${response.status} ${await response.text()}`);
  return client(call, ((await response.json()) as { id: string }).id);
};

/** A new pool. Resolves when it is full. */
export const fullPool = async (call: Call, size: number, fields: object = {}): Promise<PoolClient> => {
  const pool = await newPool(call, size, fields);
  await pool.whenCounts({ acquired: 0, available: size });
  return pool;
};

export type Cdp = {
  /** One round trip to the browser. */
  version(): Promise<string>;
  isOpen(): boolean;
  /** Resolves when the connection is closed. */
  closed: Promise<unknown>;
  close(): void;
};

/** Opens a CDP connection as a client library does. Rejects with the HTTP status of a refusal. */
export const openCdp = async ({ cdp_ws_url }: Pick<Session, "cdp_ws_url">): Promise<Cdp> => {
  const socket = new WebSocket(cdp_ws_url);
  const closed = once(socket, "close");
  closed.catch(() => undefined);
  await once(socket, "open");
  socket.on("error", () => undefined);
  let id = 0;
  return {
    async version() {
      const own = ++id;
      const answer = Promise.withResolvers<string>();
      const onMessage = (data: Buffer): void => {
        const reply = JSON.parse(data.toString()) as { id: number; result: { product: string } };
        if (reply.id === own) answer.resolve(reply.result.product);
      };
      socket.on("message", onMessage);
      socket.once("close", () => answer.reject(new Error("the connection closed")));
      socket.send(JSON.stringify({ id: own, method: "Browser.getVersion" }));
      return answer.promise.finally(() => socket.off("message", onMessage));
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
    closed,
    close: () => socket.close(),
  };
};

const statOf = async (pid: string): Promise<{ group: number; commandLine: string[] }> => {
  const [stat, commandLine] = await Promise.all(
    ["stat", "cmdline"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
  );
  const [, , group] = (stat ?? "").slice((stat ?? "").lastIndexOf(")") + 2).split(" ");
  return { group: Number(group), commandLine: (commandLine ?? "").split("\0") };
};

/**
 * The main process of a pod's browser: in the group that the agent has recorded, not the script that may have started
 * it.
 */
export const browserPid = async (dataDir: string, podUid: string): Promise<number> => {
  const groups = await readFile(join(dataDir, "pods", podUid, "process-groups"), "utf8");
  const group = Number(/^(\d+) /m.exec(groups)?.[1]);
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const { group: own, commandLine } = await statOf(pid);
    // Empty for a process that has ended and that its parent has not waited for.
    const isMain =
      !["", "/bin/sh"].includes(commandLine[0] ?? "") &&
      !commandLine.some((argument) => argument.startsWith("--type="));
    if (own === group && isMain) return Number(pid);
  }
  throw new Error(`no browser in pod ${podUid}`);
};
