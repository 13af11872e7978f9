/**
 * The console with many sessions: how soon it shows them, how it scrolls, what a window that stays open costs its own
 * memory and the api's, and what twenty windows cost callers.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { requestOf } from "../../src/core/leases/records.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { forAll } from "../../test/support/for-all.ts";
import { startLeaseParts } from "../../test/support/lease-parts.ts";
import { heapOf } from "../../test/support/page-heap.ts";
import { startViewBrowser } from "../../test/support/view-page.ts";
import type { WindowsLoad, WindowsResult } from "../console/windows-load.ts";
import { memoryReader } from "../gateway/idle-sockets.ts";
import { createLoadClient, type LoadClient, type Session } from "../leases/client.ts";
import { type Service, startService } from "../leases/service.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

/** Browsers that nobody holds yet: those that change hands while the others are held. */
const spare = 50;
const windows = 20;
const changesPerSecond = 200;

const memoryHook = join(import.meta.dirname, "../gateway/memory-on-signal.ts");

/** Callers at once. */
const callers = 16;

/**
 * Begins sessions that last, of browsers that are in Redis alone: to start ten thousand simulated ones takes a quarter of
 * an hour. The operator would end them, so it is stopped.
 */
const beginLasting = async (service: Service, client: LoadClient, count: number): Promise<void> => {
  const { cluster, api, operator, poolUid } = service;
  const answer = await api.call("POST", "/browser_pools", { size: count, fill_rate_per_minute: 0 });
  if (!answer.ok) throw new Error(`no pool: ${answer.status} ${await answer.text()}`);
  const { id } = (await answer.json()) as { id: string };
  const made = await cluster.kube.get(browserPoolKind, { namespace: cluster.namespace, name: id });
  const uid = made?.metadata.uid ?? "";
  operator.kill("SIGTERM");
  await operator.exited;
  await using leases = await startLeaseParts(cluster.redisUrl);
  const model = await client.acquire();
  const lease = await leases.store.lease(poolUid, model.session_id);
  if (!lease) throw new Error("the session has no lease");
  const asked = { ...requestOf(lease), timeout_seconds: 3600, pool: { id, uid }, tags: { team: "shop" } };
  const indexes = Array.from({ length: count }, (_, index) => index);
  await forAll(indexes, callers, async (index) => {
    await leases.addBrowser(uid, lease.address, lease.config);
    const request = JSON.stringify({ ...asked, name: `order-${index}` });
    await leases.store.take(uid, { session: newId(), channel: "none", request });
  });
  await client.release(model);
};

/** Acquires and releases at a rate until `signal` is aborted: each is a change. Returns the times of acquires, ms. */
const changeOn = async (client: LoadClient, signal: AbortSignal): Promise<number[]> => {
  const times: number[] = [];
  const held: Session[] = [];
  const everyMs = 1000 / changesPerSecond;
  const underWay = new Set<Promise<void>>();
  const change = async (): Promise<void> => {
    const session = held.length > spare / 2 ? held.shift() : undefined;
    if (session) return client.release(session);
    const beganMs = performance.now();
    held.push(await client.acquire());
    times.push(performance.now() - beganMs);
  };
  for (let next = performance.now(); !signal.aborted; next += everyMs) {
    const waitMs = next - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    // A service that is slower than the rate is asked as fast as it goes.
    if (underWay.size >= callers) await Promise.race(underWay);
    const done: Promise<void> = change().finally(() => underWay.delete(done));
    underWay.add(done);
  }
  await Promise.all(underWay);
  for (const session of held) await client.release(session);
  return times;
};

const changing = async <T>(client: LoadClient, work: () => Promise<T>): Promise<{ result: T; times: number[] }> => {
  const stop = new AbortController();
  const changes = changeOn(client, stop.signal);
  try {
    const result = await work();
    stop.abort();
    return { result, times: await changes };
  } finally {
    stop.abort();
    await changes;
  }
};

const textOf = "document.querySelector('main')?.innerText ?? ''";

type FirstView = { rowsMs: number; allMs: number };

/** From the click on "Sign in": until the first rows are there, and until all sessions are counted. */
const signIn = async (page: Page, { target }: Service, count: number): Promise<FirstView> => {
  await page.goto(`${target.url}/console/sessions`);
  await page.locator("input[name=api_key]").fill(target.apiKey);
  const beganMs = performance.now();
  await page.keyboard.press("Enter");
  await page.waitForSelector("tbody tr[data-index]", { timeout: 60_000 });
  const rowsMs = performance.now() - beganMs;
  await page.waitForFunction(`${textOf}.includes("${count} active")`, { timeout: 60_000 });
  return { rowsMs, allMs: performance.now() - beganMs };
};

/** The times between two frames while the table is scrolled through, ms. */
const scroll = async (page: Page, seconds: number): Promise<number[]> =>
  (await page.evaluate(`new Promise((resolve) => {
    const table = document.querySelector(".table-scroll");
    const times = [];
    const endMs = performance.now() + ${seconds * 1000};
    let before = performance.now();
    const step = (now) => {
      times.push(now - before);
      before = now;
      table.scrollTop = table.scrollTop + table.clientHeight + 1 >= table.scrollHeight ? 0 : table.scrollTop + 300;
      if (now < endMs) requestAnimationFrame(step);
      else resolve(times.slice(1));
    };
    requestAnimationFrame(step);
  })`)) as number[];

const openPage = async (stack: AsyncDisposableStack): Promise<Page> => {
  const { browser } = stack.use(await startViewBrowser());
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  return page;
};

const measurePage = async (service: Service, client: LoadClient, bench: Bench, count: number): Promise<Row[]> => {
  await using stack = new AsyncDisposableStack();
  const page = await openPage(stack);
  bench.say("the first view");
  const first = await signIn(page, service, count);
  bench.say("scrolling");
  const firstFrames = summarize(await scroll(page, 5));
  const frames = summarize(await scroll(page, 10));
  const seconds = bench.seconds(600);
  bench.say(`a window that is open for ${seconds} s`);
  const { result: heaps } = await changing(client, async () => {
    await sleep(10_000, undefined, { signal: bench.signal });
    const sizes = [await heapOf(page)];
    for (let look = 0; look < 10; look += 1) {
      await sleep(seconds * 100, undefined, { signal: bench.signal });
      sizes.push(await heapOf(page));
    }
    return sizes;
  });
  const [begin = 0, end = 0] = [heaps[0], heaps.at(-1)];
  return [
    {
      what: `first rows of ${count} sessions after sign-in`,
      unit: "ms",
      measured: first.rowsMs,
      target: { of: "measured", atMost: 1000 },
    },
    { what: "all of them are there", unit: "ms", measured: first.allMs },
    {
      what: "the longest frame while scrolling",
      unit: "ms",
      measured: frames.max,
      target: { of: "measured", atMost: 50 },
    },
    { what: "frames while scrolling, p99", unit: "ms", measured: frames.p99 },
    { what: "the longest frame of the first 5 s, as the page comes", unit: "ms", measured: firstFrames.max },
    {
      what: `the page's memory after ${seconds} s with ${changesPerSecond} changes a second`,
      unit: "bytes",
      measured: end,
      floor: { what: "at the begin", value: begin },
      target: { of: "ratio", atMost: 1.15 },
    },
  ];
};

const measureWindows = async (service: Service, client: LoadClient, bench: Bench): Promise<Row[]> => {
  const seconds = bench.seconds(60);
  const readMemory = memoryReader(service.api);
  bench.say("callers without windows");
  const none = await changing(client, () => sleep(seconds * 1000, undefined, { signal: bench.signal }));
  const before = await readMemory();
  bench.say(`callers with ${windows} windows`);
  const open = await changing(client, async () => {
    const load: WindowsLoad = { ...service.target, windows, seconds: seconds + 10 };
    const reading = runInOwnProcess<WindowsLoad, WindowsResult>(
      join(import.meta.dirname, "../console/windows-load.ts"),
      load,
      { signal: bench.signal },
    );
    // They have all that there was, and what is only left to be collected does not count.
    await sleep(seconds * 1000, undefined, { signal: bench.signal });
    return { memory: await readMemory(), read: await reading };
  });
  const [alone, beside] = [summarize(none.times), summarize(open.times)];
  const { memory, read } = open.result;
  return [
    {
      what: `the api's memory with ${windows} open windows, resident`,
      unit: "bytes",
      measured: memory.rss,
      floor: { what: "without any", value: before.rss },
      target: { of: "added", atMost: 20 * 2 ** 20 },
    },
    {
      what: "the same, heap and buffers",
      unit: "bytes",
      measured: memory.heapUsed + memory.external,
      floor: { what: "without any", value: before.heapUsed + before.external },
    },
    {
      what: `acquire with ${windows} open windows, p99`,
      unit: "ms",
      measured: beside.p99,
      floor: { what: "without any", value: alone.p99 },
    },
    { what: "the same, p50", unit: "ms", measured: beside.p50, floor: { what: "without any", value: alone.p50 } },
    { what: "events that each window has read", unit: "count", measured: read.events },
  ];
};

const measure = async (bench: Bench) => {
  const count = Math.round(bench.browsers(10_000));
  const size = spare;
  const env = { BROWSERPOOL_CONSOLE: "on", BROWSERPOOL_POOLED_SESSIONS: String(count + spare) };
  const apiArgs = ["--expose-gc", "--import", memoryHook];
  await using service = await startService({ size, env, apiArgs }, bench);
  const client = createLoadClient(service.target, callers);
  try {
    bench.say(`${count} sessions begin`);
    await beginLasting(service, client, count);
    const page = await measurePage(service, client, bench, count);
    return { rows: [...page, ...(await measureWindows(service, client, bench))] };
  } finally {
    await client.close();
  }
};

export const section: Section = {
  name: "console",
  summary: "the console with many sessions: first view, scrolling, memory, and what open windows cost callers",
  run: measure,
};
