/** How fast a pool fills and how many browsers it runs, from a watch of its pods. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserPoolCreateParams } from "@onkernel/sdk/resources/browser-pools";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { eventually } from "../support/eventually.ts";
import { emptyPool, fastest, untilAvailable } from "../support/filled-pool.ts";
import { type PodWatch, watchPods } from "../support/pod-watch.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let watch: PodWatch;
beforeAll(async () => {
  stack = await startProject();
  watch = await watchPods(stack.kube);
});
afterAll(async () => {
  await watch?.stop();
  await stack?.[Symbol.asyncDispose]();
});

/** Pools by id, with the largest size that each had. */
const pools = new Map<string, { uid: string; largest: number }>();

const poolOf = async (id: string): Promise<BrowserPool> => {
  const pool = await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: id });
  return pool as BrowserPool;
};

const newPool = async (params: Partial<BrowserPoolCreateParams> & { size: number }): Promise<string> => {
  const { id } = await emptyPool(stack.kernel, params);
  pools.set(id, { uid: (await poolOf(id)).metadata.uid ?? "", largest: params.size });
  return id;
};

const uidOf = (id: string): string => pools.get(id)?.uid ?? "";
const update = (id: string, change: object) => stack.kernel.browserPools.update(id, change);
const acquire = (id: string) => stack.kernel.browserPools.acquire(id, { acquire_timeout_seconds: 30 });
const release = (id: string, session_id: string, reuse = true) =>
  stack.kernel.browserPools.release(id, { session_id, reuse });

/** The fill rate at which a pool of this size starts one browser every so many seconds. */
const rateFor = (size: number, seconds: number): number => 6000 / (size * seconds);

/**
 * Expects so many seconds between starts. Creation times are whole seconds, so the check uses the sum of the distances,
 * which may be short by one second.
 */
const expectSpacing = (starts: number[], seconds: number): void => {
  const [first = 0] = starts;
  for (const [i, start] of starts.entries()) expect(start - first).toBeGreaterThanOrEqual(i * seconds - 1);
};

afterEach(async () => {
  for (const [id, { uid, largest }] of pools) {
    expect(watch.most(uid)).toBeLessThanOrEqual(largest);
    await stack.kernel.browserPools.delete(id, { force: true });
  }
  pools.clear();
});

/** Long enough for a pool at the fastest rate to start a browser. */
const aWhileMs = 2000;

describe("a pool with a fill rate", () => {
  // FILL-RATE-1, FILL-RATE-4
  test("starts its browsers one by one, and replaces destroyed ones at the same rate", async () => {
    const id = await newPool({ size: 3, fill_rate_per_minute: rateFor(3, 2) });
    await untilAvailable(stack.kernel, id, 3);
    expect(watch.creations(uidOf(id))).toHaveLength(3);
    expectSpacing(watch.creations(uidOf(id)), 2);

    const sessions = [await acquire(id), await acquire(id), await acquire(id)];
    await Promise.all(sessions.map(({ session_id }) => release(id, session_id, false)));
    await untilAvailable(stack.kernel, id, 3);
    expect(watch.creations(uidOf(id))).toHaveLength(6);
    expectSpacing(watch.creations(uidOf(id)), 2);
  });

  // FILL-RATE-2
  test("starts the first browser at once, also when the next start is minutes away", async () => {
    const id = await newPool({ size: 2, fill_rate_per_minute: rateFor(2, 300) });
    await untilAvailable(stack.kernel, id, 1);
    expect((await poolOf(id)).status?.nextStartTime).toBeDefined();
    await sleep(aWhileMs);
    expect(watch.creations(uidOf(id))).toHaveLength(1);
  });

  // FILL-RATE-7
  test("follows a raised rate at once, and does not wait for the start that the old rate had planned", async () => {
    // Fails by the wait for the second browser: at the old rate it comes in five minutes.
    const id = await newPool({ size: 2, fill_rate_per_minute: rateFor(2, 300) });
    await untilAvailable(stack.kernel, id, 1);
    await update(id, { fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 2);
  });

  // FILL-RATE-3
  test("starts nothing at 0, and continues when the rate is raised", async () => {
    const id = await newPool({ size: 2, fill_rate_per_minute: 0 });
    await sleep(aWhileMs);
    expect(watch.creations(uidOf(id))).toEqual([]);
    await update(id, { fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 2);

    await update(id, { fill_rate_per_minute: 0 });
    await stack.kernel.browserPools.flush(id);
    await eventually("the flushed browsers are gone", () => watch.live(uidOf(id)).length === 0);
    await sleep(aWhileMs);
    expect(watch.creations(uidOf(id))).toHaveLength(2);
    await update(id, { fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 2);
  });

  // POOL-13, FILL-RATE-4
  test("fills up one by one after a flush, which leaves the browser in use alone", async () => {
    const id = await newPool({ size: 4, fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 4);
    const held = await acquire(id);
    await update(id, { fill_rate_per_minute: rateFor(4, 2) });
    await stack.kernel.browserPools.flush(id);
    await untilAvailable(stack.kernel, id, 3);
    const starts = watch.creations(uidOf(id));
    expect(starts).toHaveLength(7);
    expectSpacing(starts.slice(4), 2);
    expect(await stack.kernel.browsers.retrieve(held.session_id)).toMatchObject({ session_id: held.session_id });
  });
});

describe("a pool whose size changes", () => {
  const counts = async (id: string) => {
    const { status } = await poolOf(id);
    return { acquired: status?.acquired, available: status?.available, starting: status?.starting };
  };

  // POOL-12
  test("removes idle browsers first, and one in use only when its lease ends", async () => {
    const id = await newPool({ size: 4, fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 4);
    const [a, b] = [await acquire(id), await acquire(id)];
    await update(id, { size: 3 });
    await eventually("one idle browser is left", async () => {
      const { acquired, available } = await counts(id);
      return acquired === 2 && available === 1 && watch.live(uidOf(id)).length === 3;
    });

    await update(id, { size: 1 });
    await eventually("no idle browser is left", async () => {
      const { acquired, available } = await counts(id);
      return acquired === 2 && available === 0 && watch.live(uidOf(id)).length === 2;
    });
    for (const { session_id } of [a, b])
      expect(await stack.kernel.browsers.retrieve(session_id)).toMatchObject({ session_id });

    await release(id, a.session_id);
    await eventually("the surplus goes with its lease", () => watch.live(uidOf(id)).length === 1);
    expect(await stack.kernel.browsers.retrieve(b.session_id)).toMatchObject({ session_id: b.session_id });
    await release(id, b.session_id);
    await untilAvailable(stack.kernel, id, 1);
    expect(watch.live(uidOf(id))).toHaveLength(1);
    expect(watch.creations(uidOf(id))).toHaveLength(4);
  });

  // POOL-11, FILL-RATE-4
  test("grows at its rate and does not start replacements for browsers in use", async () => {
    const id = await newPool({ size: 1, fill_rate_per_minute: fastest });
    await untilAvailable(stack.kernel, id, 1);
    await acquire(id);
    await sleep(aWhileMs);
    expect(watch.creations(uidOf(id))).toHaveLength(1);

    pools.set(id, { uid: uidOf(id), largest: 3 });
    await update(id, { size: 3, fill_rate_per_minute: rateFor(3, 2) });
    await untilAvailable(stack.kernel, id, 2);
    await eventually("the counts add up", async () => {
      const { acquired = 0, available = 0, starting = 0 } = await counts(id);
      return acquired === 1 && acquired + available + starting === 3;
    });
    expectSpacing(watch.creations(uidOf(id)).slice(1), 2);
  });
});
