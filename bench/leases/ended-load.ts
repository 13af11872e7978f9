/**
 * The load of the section `ended`, in its own process: leases that begin and end, the most of them by the lease scripts
 * alone (a lease by HTTP costs this machine ten times as much), the others as callers make them; a tenth with tags of 8
 * KiB. Meanwhile a caller lists sessions, and everything is sampled.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { createLeaseStore } from "../../src/core/leases/lease-store.ts";
import { poolKey } from "../../src/core/leases/pool-keys.ts";
import { newSessionId } from "../../src/core/objects/new-id.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectRedis, type RedisConnection, whenReady } from "../../src/platform/redis/connection.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { Job } from "../own-process.ts";
import type { Target } from "./client.ts";

export type EndedLoad = { target: Target; poolUid: string; redisUrl: string; leases: number; seed: number };

/** At one moment. `lagP99Ms`, `lagMaxMs`: the API's event-loop delay since the sample before. */
export type Sample = {
  seconds: number;
  leases: number;
  ended: number;
  usedBytes: number;
  lagP99Ms: number;
  lagMaxMs: number;
};

export type EndedResult = {
  samples: Sample[];
  byHttp: number;
  byScripts: number;
  /** Every failed call, by what it said. */
  errors: Record<string, number>;
  /** ms, by what was asked for. */
  lists: Record<"active" | "first" | "deep" | "search", number[]>;
};

const scriptWorkers = 12;
const httpWorkers = 2;
const sampleEveryMs = 5000;
const listEveryMs = 100;

/** Eight kilobytes of tags, the most that a session may have. */
const hostileTags = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`tag${n}`, "x".repeat(1000)]));
const usualTags = { team: "shop", run: "4711" };

const usedBytes = async (redis: RedisConnection): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]);

const gauge = (metrics: string, name: string): number =>
  1000 * Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1]);

const sampleRequest = { timeout_seconds: 600, max_session_seconds: 3600, project: "bench" };

export const run: Job<EndedLoad, EndedResult> = async ({ target, poolUid, redisUrl, leases, seed }, signal) => {
  const redis = connectRedis(redisUrl, createLogger("silent", "bench"));
  await whenReady(redis, 10_000);
  const store = createLeaseStore(redis);
  const agent = new Agent({ connections: 8, headersTimeout: 0 });
  const random = seededRandom(seed);
  const result: EndedResult = {
    samples: [],
    byHttp: 0,
    byScripts: 0,
    errors: {},
    lists: { active: [], first: [], deep: [], search: [] },
  };
  const failed = (error: unknown): void => {
    const text = String(error instanceof Error ? error.message : error).slice(0, 200);
    result.errors[text] = (result.errors[text] ?? 0) + 1;
  };
  const isOver = (): boolean => signal.aborted || result.byHttp + result.byScripts >= leases;
  const tags = (): Record<string, string> => (random() < 0.1 ? hostileTags : usualTags);

  const call = async (method: "GET" | "POST", path: string, body?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${target.apiKey}`, "content-type": "application/json" };
    const answer = await request(target.url + path, {
      method,
      dispatcher: agent,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path.split("?")[0]}: ${answer.statusCode} ${text}`);
    return text;
  };

  const byScripts = async (): Promise<void> => {
    const session = newSessionId(poolUid);
    const pool = { id: target.poolId, uid: poolUid };
    const wanted = JSON.stringify({ ...sampleRequest, pool, tags: tags() });
    const taken = await store.take(poolUid, { session, channel: "none", request: wanted });
    if (taken.kind === "waiting") {
      // Every browser is in use at this moment.
      await store.cancel(poolUid, session);
      await sleep(5);
      return;
    }
    if (taken.kind !== "granted") throw new Error(`a take was ${taken.kind}`);
    await store.release(poolUid, session, "releasing", "released");
    await store.offer(poolUid, taken.lease);
    result.byScripts++;
  };
  const byHttp = async (): Promise<void> => {
    const path = `/browser_pools/${target.poolId}`;
    const { session_id } = JSON.parse(await call("POST", `${path}/acquire`, { tags: tags() })) as {
      session_id: string;
    };
    await call("POST", `${path}/release`, { session_id });
    result.byHttp++;
  };
  const lists: Record<keyof EndedResult["lists"], () => string> = {
    active: () => "status=active&limit=100",
    first: () => "status=all&limit=100",
    deep: () => `status=deleted&limit=100&offset=${Math.floor(random() * 100_000)}`,
    search: () => "status=deleted&query=nothing-has-this-name",
  };
  const list = async (): Promise<void> => {
    for (const what of ["active", "first", "deep", "active", "first", "deep", "search"] as const) {
      const beganMs = performance.now();
      await call("GET", `/browsers?${lists[what]()}`);
      result.lists[what].push(performance.now() - beganMs);
      await sleep(listEveryMs);
    }
  };
  const beganMs = performance.now();
  const sample = async (): Promise<void> => {
    const metrics = await call("GET", "/metrics");
    result.samples.push({
      seconds: (performance.now() - beganMs) / 1000,
      leases: result.byHttp + result.byScripts,
      ended: await redis.zcard(poolKey(poolUid, "ended_at")),
      usedBytes: await usedBytes(redis),
      lagP99Ms: gauge(metrics, "nodejs_eventloop_lag_p99_seconds"),
      lagMaxMs: gauge(metrics, "nodejs_eventloop_lag_max_seconds"),
    });
    await sleep(isOver() ? 0 : sampleEveryMs);
  };
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver()) await work().catch(failed);
  };
  try {
    await Promise.all([
      ...Array.from({ length: scriptWorkers }, () => repeat(byScripts)),
      ...Array.from({ length: httpWorkers }, () => repeat(byHttp)),
      repeat(list),
      repeat(sample),
    ]);
    await sample().catch(failed);
    return result;
  } finally {
    redis.disconnect();
    await agent.close();
  }
};
