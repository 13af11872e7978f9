/**
 * The load of the section `limits`, each in its own process: requests at a fixed rate, and a caller that acquires and
 * releases.
 */
import { Pool } from "undici";
import { callJson } from "../../src/core/leases/agent/agent-call.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { createLoadClient, type Target } from "../leases/client.ts";
import { openLoop, poissonArrivals } from "../open-loop.ts";
import type { Job } from "../own-process.ts";

export type FloodLoad = {
  seconds: number;
  perSecond: number;
  seed: number;
} & (
  | { kind: "flood"; url: string; path: string; method: "GET" | "POST"; headers: Record<string, string>; body?: string }
  | { kind: "acquires"; target: Target }
);

export type FloodResult = {
  /** Time of each call, ms; for an acquire without its release. */
  latencies: number[];
  /** Answers by status; of acquires only errors are counted, as 0. */
  statuses: Record<number, number>;
};

/** More than are open at once, unless the service stalls. */
const connections = 64;

const warmUp = 200;

const answerMs = 60_000;

export const run: Job<FloodLoad, FloodResult> = async (load, signal) => {
  const statuses: Record<number, number> = {};
  const arrivals = poissonArrivals(load, seededRandom(load.seed));
  if (load.kind === "acquires") {
    const client = createLoadClient(load.target, connections);
    await client.connect(8);
    const result = await openLoop({ arrivals, signal }, async () => {
      const session = await client.acquire();
      return { after: client.release(session) };
    });
    await client.close();
    return { latencies: result.latencies.slice(warmUp / 10), statuses: { 0: result.errors.length } };
  }
  const { url, path, method, headers, body } = load;
  const pool = new Pool(url, { connections, pipelining: 1 });
  const call = { origin: url, path, method, headers, ...(body && { body: Buffer.from(body) }), timeoutMs: answerMs };
  const { latencies } = await openLoop({ arrivals, signal }, () =>
    callJson(pool, call, ({ status }) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      return {};
    }),
  );
  await pool.destroy();
  return { latencies, statuses };
};
