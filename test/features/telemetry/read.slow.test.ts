/** Telemetry as callers read it, through two replicas of the API; the agents are real but for what they capture. */
import Kernel from "@onkernel/sdk";
import type { TelemetryEventsParams, TelemetryStreamResponse } from "@onkernel/sdk/resources/browsers/telemetry";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrowserSpec, browserKind } from "../../../src/core/model/browsers/browser.ts";
import type { ApiReplica } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { fullPool, type PoolClient } from "../../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let replicas: [ApiReplica, ApiReplica];
let pool: PoolClient;
let redis: Redis;

beforeAll(async () => {
  cluster = await startSimulatedCluster({
    env: { BROWSERPOOL_TELEMETRY_BYTES_PER_SESSION: "200000", BROWSERPOOL_TELEMETRY_ENDED_BYTES_PER_PROJECT: "250000" },
  });
  cluster.startOperator("operator");
  replicas = [await cluster.startApi("api-a"), await cluster.startApi("api-b")];
  redis = new Redis(cluster.redisUrl);
  pool = await fullPool(replicas[1].call, 3, {
    telemetry: { browser: { console: { enabled: true } }, storage: { enabled: true } },
  });
});
afterAll(async () => {
  redis?.disconnect();
  await cluster?.[Symbol.asyncDispose]();
});

const sdk = (index: 0 | 1, apiKey = cluster.apiKey): Kernel =>
  new Kernel({ baseURL: replicas[index].url, apiKey, maxRetries: 0 });

type Held = { id: string; say(count: number, chars?: number): Promise<unknown>; end(): Promise<unknown> };

/** A session whose browser can be told what happens in it. */
const hold = async (): Promise<Held> => {
  const { session_id: id } = await sdk(0).browserPools.acquire(pool.id, {});
  const { uid = "" } = (await cluster.node.pods()).find(({ holder }) => holder === id) ?? {};
  return {
    id,
    say: (count, chars = 0) => cluster.node.say({ pods: [uid] }, { count, chars }),
    end: () => pool.release({ session_id: id }),
  };
};

/** The events of a session, once there are so many. */
const events = async (id: string, count: number, params: TelemetryEventsParams = {}) =>
  eventually(`${count} events`, async () => {
    const page = await sdk(1).browsers.telemetry.events(id, { limit: 100, ...params });
    return page.items.length >= count && page.items;
  });

type Reader = { seqs: number[]; next(): Promise<TelemetryStreamResponse | undefined>; break(): void };

const follow = async (kernel: Kernel, id: string, params: object = {}): Promise<Reader> => {
  const gone = new AbortController();
  const stream = await kernel.browsers.telemetry.stream(id, params, { signal: gone.signal });
  const items = stream[Symbol.asyncIterator]();
  const seqs: number[] = [];
  return {
    seqs,
    async next() {
      const { value, done } = await items.next();
      if (done) return undefined;
      seqs.push(value.seq);
      return value;
    },
    break: () => gone.abort(),
  };
};

const upTo = async (reader: Reader, seq: number): Promise<void> => {
  while ((reader.seqs.at(-1) ?? 0) < seq) if (!(await reader.next())) throw new Error("the stream has ended");
};
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

// TELEMETRY-10, TELEMETRY-31
describe("kept events", () => {
  test("are paged by the SDK in both directions, by time and by category", async () => {
    const { id, say, end } = await hold();
    expect((await sdk(0).browsers.telemetry.events(id)).items).toEqual([]);
    await say(25);
    await events(id, 25);
    const paged: number[] = [];
    for await (const { seq, event } of sdk(0).browsers.telemetry.events(id, { limit: 10 })) {
      paged.push(seq);
      expect(event.category).toBe("console");
    }
    expect(paged).toEqual(range(1, 25));
    const back: number[] = [];
    for await (const { seq } of sdk(0).browsers.telemetry.events(id, { limit: 10, order: "desc" })) back.push(seq);
    expect(back).toEqual(range(1, 25).reverse());
    const other = await sdk(0).browsers.telemetry.events(id, { category: ["network", "page"], limit: 10 });
    expect([other.items, other.has_more]).toEqual([[], true]);
    expect((await events(id, 25, { category: ["console", "page"] })).length).toBe(25);
    expect(
      (await replicas[0].call("GET", `/browsers/${id}/telemetry/events?category=page&category=console`)).status,
    ).toBe(200);

    const middle = new Date(((await events(id, 25))[10]?.event.ts as number) / 1000 + 1).toISOString();
    const first = (await sdk(0).browsers.telemetry.events(id, { until: middle, since: "1h", limit: 100 })).items;
    const rest = (await sdk(0).browsers.telemetry.events(id, { since: middle, limit: 100 })).items;
    expect([...first, ...rest].map(({ seq }) => seq)).toEqual(range(1, 25));
    expect((await sdk(0).browsers.telemetry.events(id, { since: "0s" })).items).toEqual([]);
    await end();
  });

  test.each([
    ["order=desc&since=5m", "since"],
    ["since=yesterday", "since"],
    ["category=nothing", "category"],
    ["offset=-1", "offset"],
  ])("of a query like %s are refused", async (query, field) => {
    const { id, end } = await hold();
    const answer = await replicas[0].call("GET", `/browsers/${id}/telemetry/events?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(field);
    await end();
  });

  test("stay after the session when it asked for storage, and the oldest sessions of a project go first", async () => {
    const ended: string[] = [];
    for (let index = 0; index < 3; index++) {
      const { id, say, end } = await hold();
      await say(80, 1200);
      await events(id, 80);
      await end();
      ended.push(id);
      await expect(sdk(0).browsers.telemetry.events(id)).rejects.toMatchObject({ status: 404 });
      await expect(sdk(0).browsers.telemetry.stream(id)).rejects.toMatchObject({ status: 404 });
      await eventually(
        "it is noted as ended",
        async () => (await redis.hget(`bp:{${id}}:telemetry_state`, "ended")) !== null,
      );
    }
    const count = async (id: string | undefined) =>
      (
        (await (
          await replicas[1].call("GET", `/browsers/${id}/telemetry/events?include_deleted=true&limit=100`)
        ).json()) as []
      ).length;
    await eventually("the first has gone", async () => (await count(ended[0])) === 0);
    expect([await count(ended[1]), await count(ended[2])]).toEqual([80, 80]);
  });
});

// TELEMETRY-8, TELEMETRY-32
describe("a stream", () => {
  test("has new events alone, goes on through another replica without gap or repeat, and ends with its session", async () => {
    const { id, say, end } = await hold();
    await say(5);
    await events(id, 5);
    const first = await follow(sdk(0), id);
    const all = await follow(sdk(1), id, { replay: "all" });
    await say(10);
    await upTo(first, 11);
    first.break();
    await say(10);
    const again = await follow(sdk(1), id, { "Last-Event-ID": String(first.seqs.at(-1)), replay: "all" });
    await upTo(again, 20);
    await say(3);
    await end();
    while (await again.next());
    while (await all.next());
    expect([...first.seqs, ...again.seqs]).toEqual(range(6, 28));
    expect(all.seqs).toEqual(range(1, 28));
  });

  test("says where events are missing that were dropped for room", async () => {
    const { id, say, end } = await hold();
    await say(400, 1000);
    await eventually("all came", async () => (await redis.hget(`bp:{${id}}:telemetry_state`, "last")) === "400");
    const reader = await follow(sdk(0), id, { "Last-Event-ID": "3" });
    const gap = await reader.next();
    await upTo(reader, 400);
    const lost = (gap?.seq ?? 0) - 3;
    expect(lost).toBeGreaterThan(150);
    expect(gap?.event).toMatchObject({
      type: "monitor_events_dropped",
      data: { count: lost, reason: "storage_full" },
    });
    expect(reader.seqs).toEqual(range(gap?.seq ?? 0, 400));
    expect(Number(await redis.hget(`bp:{${id}}:telemetry_state`, "bytes"))).toBeLessThan(320_000);
    await end();
  });

  test("of a session without telemetry opens, has nothing, and ends", async () => {
    const { session_id: id } = await sdk(0).browserPools.acquire(pool.id, { telemetry: { enabled: false } });
    const reader = await follow(sdk(0), id, { replay: "all" });
    expect((await sdk(0).browsers.telemetry.events(id)).items).toEqual([]);
    expect(await redis.hexists("bp:{telemetry}:claims", id)).toBe(0);
    await pool.release({ session_id: id });
    expect(await reader.next()).toBeUndefined();
  });

  test("and events of another project, and of no session, are not found", async () => {
    const { id, end } = await hold();
    const project = (await (await replicas[0].call("POST", "/org/projects", { name: "other" })).json()) as {
      id: string;
    };
    const made = await replicas[0].call("POST", "/org/api_keys", { name: "k", project_id: project.id });
    const { key } = (await made.json()) as { key: string };
    const notFound = { status: 404 };
    for (const [kernel, session] of [
      [sdk(1, key), id],
      [sdk(1), "nothing"],
    ] as const)
      await eventually("the key is known", async () => {
        const outcomes = await Promise.allSettled([
          kernel.browsers.telemetry.events(session),
          kernel.browsers.telemetry.stream(session),
        ]);
        if (outcomes.some((outcome) => outcome.status === "rejected" && outcome.reason.status === 401)) return false;
        for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: notFound });
        return true;
      });
    await end();
  });
});

// TELEMETRY-34
test("a change of the running session reaches its agent at once, and starts to collect", async () => {
  const { session_id: id } = await sdk(0).browserPools.acquire(pool.id, { telemetry: { enabled: false } });
  const changed = await sdk(1).browsers.update(id, { telemetry: { browser: { page: { enabled: true } } } });
  expect(changed.telemetry?.browser?.page?.enabled).toBe(true);
  const captured = async () => (await cluster.node.captured()).filter((settings) => settings !== null);
  expect(await captured()).toMatchObject([{ enabled: true, browser: { page: { enabled: true } } }]);
  expect(await redis.hexists("bp:{telemetry}:claims", id)).toBe(1);
  const off = await sdk(1).browsers.update(id, { telemetry: { enabled: false } });
  expect(off).not.toHaveProperty("telemetry");
  expect(await captured()).toEqual([{ enabled: false }]);
  const { uid = "" } = (await cluster.node.pods()).find(({ holder }) => holder === id) ?? {};
  await cluster.node.turn({ pods: [uid] }, { refusing: true });
  await expect(sdk(1).browsers.update(id, { telemetry: { enabled: true } })).rejects.toMatchObject({ status: 503 });
  expect(await sdk(0).browsers.retrieve(id)).not.toHaveProperty("telemetry");
  await cluster.node.turn({ pods: [uid] }, {});
  const on = await eventually("it is changed", () =>
    sdk(1)
      .browsers.update(id, { telemetry: { enabled: true } })
      .catch(() => undefined),
  );
  expect((on.telemetry as { enabled?: boolean } | null | undefined)?.enabled).toBe(true);
  await pool.release({ session_id: id });
});

// TELEMETRY-33
test("a browser made by YAML is collected too", async () => {
  const metadata = { name: "by-yaml", namespace: cluster.namespace };
  const spec = BrowserSpec.parse({ headless: true, telemetry: { browser: { console: { enabled: true } } } });
  await cluster.kube.create(browserKind, { metadata, spec });
  const { uid } = await eventually("its agent has it", async () =>
    (await cluster.node.pods()).find(({ holder }) => holder === "by-yaml"),
  );
  await cluster.node.say({ pods: [uid] }, { count: 3 });
  await eventually("they came", async () => (await redis.hget("bp:{by-yaml}:telemetry_state", "last")) === "3");
  await cluster.kube.delete(browserKind, metadata);
});

// TELEMETRY-35
test("while Redis is full, releases are served and events wait with their agents; then all of them come", async () => {
  const [other, { id, say, end }] = [await hold(), await hold()];
  await say(5);
  const reader = await follow(sdk(1), id, { replay: "all" });
  await upTo(reader, 5);
  await redis.config("SET", "maxmemory", "1");
  try {
    await say(300, 1000);
    expect(await other.end()).toBe(204);
    expect((await sdk(1).browsers.retrieve(id)).session_id).toBe(id);
  } finally {
    await redis.config("SET", "maxmemory", "0");
  }
  await upTo(reader, 305);
  const seen = reader.seqs.filter((seq) => seq > 5);
  // Some may have been dropped for room, which an event says in their place.
  expect(seen).toEqual(range(seen[0] ?? 0, 305));
  await end();
});

// TELEMETRY-33
test("when the replica that collects is killed, and when Redis has lost all, readers miss nothing and get nothing twice", async () => {
  const { id, say, end } = await hold();
  const reader = await follow(sdk(1), id, { replay: "all" });
  const claim = () => redis.hget("bp:{telemetry}:claims", id);
  await say(5);
  await upTo(reader, 5);
  expect(await claim()).toContain("/api-a");
  replicas[0].kill("SIGKILL");
  await replicas[0].exited;
  await say(5);
  await upTo(reader, 10);
  expect(await claim()).toContain("/api-b");

  await redis.flushall();
  await say(5);
  await upTo(reader, 15);
  await eventually("it is claimed again", async () => (await claim()) !== null);
  await eventually("its lease is known again", async () => (await pool.counts()).acquired === 1);
  await say(5);
  await end();
  while (await reader.next());
  expect(reader.seqs).toEqual(range(1, 20));
});
