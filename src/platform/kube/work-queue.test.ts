import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../base/log.ts";
import { createWaitingKeys, startWorkQueue, type Work } from "./work-queue.ts";

const keysOf = (taken: Iterable<{ key: string }>): string[] => [...taken].map(({ key }) => key);

test("each lane has room of its own, and gives it in the order in which keys came", () => {
  const waiting = createWaitingKeys({
    limits: { fast: 2, slow: 1 },
    of: (key) => (key.startsWith("s") ? "slow" : "fast"),
  });
  for (const key of ["s1", "s2", "f1", "s3", "f2", "f3"]) waiting.add(key);
  const first = [...waiting.take()];
  expect(keysOf(first).toSorted()).toEqual(["f1", "f2", "s1"]);
  expect(waiting.size()).toBe(3);
  expect(keysOf(waiting.take())).toEqual([]);
  first.find(({ key }) => key === "s1")?.leave();
  expect(keysOf(waiting.take())).toEqual(["s2"]);
  first.find(({ key }) => key === "f1")?.leave();
  expect(keysOf(waiting.take())).toEqual(["f3"]);
  expect(waiting.size()).toBe(1);
});

test("a key waits once, in the lane that it has now", () => {
  let lane: "fast" | "slow" = "slow";
  const waiting = createWaitingKeys({ limits: { fast: 1, slow: 0 }, of: () => lane });
  waiting.add("a");
  waiting.add("a");
  expect(keysOf(waiting.take())).toEqual([]);
  lane = "fast";
  waiting.add("a");
  expect(waiting.size()).toBe(1);
  expect(keysOf(waiting.take())).toEqual(["a"]);
  waiting.add("b");
  waiting.clear();
  expect(waiting.size()).toBe(0);
});

const log = createLogger("silent", "test");
const start = (work: Work, concurrency = 1) => startWorkQueue({ name: "test", work, concurrency, log });

/** Work that ends when it is told to. */
const heldWork = () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const work: Work = async (key) => {
    started.push(key);
    await new Promise<void>((resolve) => ends.push(resolve));
    return undefined;
  };
  return { started, endFirst: () => ends.shift()?.(), work };
};

describe("a key", () => {
  test("that is added many times before its turn is worked on once", async () => {
    const { started, endFirst, work } = heldWork();
    const queue = start(work);
    for (const key of ["a", "b", "b", "b"]) queue.add(key);
    await turn();
    endFirst();
    await turn();
    endFirst();
    await turn();
    expect(started).toEqual(["a", "b"]);
    await queue.stop();
  });

  test("that is added while it is worked on comes again once, never at the same time", async () => {
    const { started, endFirst, work } = heldWork();
    const queue = start(work, 4);
    queue.add("a");
    await turn();
    queue.add("a");
    queue.add("a");
    await turn();
    expect(started).toEqual(["a"]);
    endFirst();
    await turn();
    expect(started).toEqual(["a", "a"]);
    endFirst();
    await turn();
    expect(started).toEqual(["a", "a"]);
    await queue.stop();
  });

  test("waits while as many as allowed are worked on", async () => {
    const { started, endFirst, work } = heldWork();
    const queue = start(work, 2);
    for (const key of ["a", "b", "c"]) queue.add(key);
    await turn();
    expect(started).toEqual(["a", "b"]);
    endFirst();
    await turn();
    expect(started).toEqual(["a", "b", "c"]);
    endFirst();
    endFirst();
    await queue.stop();
  });
});

describe("in time", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("work that throws comes again after a back-off that doubles, and a success ends it", async () => {
    const timesMs: number[] = [];
    const beganMs = performance.now();
    const queue = start(async () => {
      timesMs.push(performance.now() - beganMs);
      if (timesMs.length < 4 || timesMs.length === 5) throw new Error("not yet");
      return undefined;
    });
    queue.add("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timesMs).toEqual([0, 100, 300, 700]);
    queue.add("a");
    await vi.advanceTimersByTimeAsync(60_000);
    const [fifth = 0, sixth] = timesMs.slice(4);
    expect([sixth, timesMs.length]).toEqual([fifth + 100, 6]);
    await queue.stop();
  });

  test("of several requests for a key the earliest wins", async () => {
    let rounds = 0;
    const queue = start(async () => {
      rounds++;
      return undefined;
    });
    queue.add("a", 5000);
    queue.add("a", 100);
    queue.add("a", 9000);
    await vi.advanceTimersByTimeAsync(100);
    expect(rounds).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(rounds).toBe(1);
    await queue.stop();
  });

  test("changes that settle are looked at after their whole delay, also when other requests were met before", async () => {
    const timesMs: number[] = [];
    const beganMs = performance.now();
    const queue = start(async () => {
      timesMs.push(performance.now() - beganMs);
      return timesMs.length === 1 ? { requeueAfterMs: 50 } : undefined;
    });
    queue.addBatched("a", 500);
    await vi.advanceTimersByTimeAsync(200);
    queue.add("a");
    await vi.advanceTimersByTimeAsync(5000);
    expect(timesMs).toEqual([200, 250, 500]);
    queue.addBatched("a", 500);
    await queue.stop();
    await vi.advanceTimersByTimeAsync(5000);
    expect(timesMs.length).toBe(3);
  });

  test("a change that comes while another settles has its whole delay too, and of a stream many are looked at together", async () => {
    let timesMs: number[] = [];
    let beganMs = performance.now();
    const queue = start(async () => {
      timesMs.push(performance.now() - beganMs);
      return undefined;
    });
    queue.addBatched("a", 500);
    await vi.advanceTimersByTimeAsync(499);
    queue.addBatched("a", 500);
    await vi.advanceTimersByTimeAsync(5000);
    expect(timesMs).toEqual([500, 1500]);

    timesMs = [];
    beganMs = performance.now();
    for (let requests = 0; requests < 10; requests++) {
      queue.addBatched("a", 500);
      await vi.advanceTimersByTimeAsync(100);
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect(timesMs).toEqual([500, 1500, 2500]);
    queue.addBatched("a", 500);
    queue.addBatched("a", 500);
    await queue.stop();
    await vi.advanceTimersByTimeAsync(5000);
    expect(timesMs.length).toBe(3);
  });

  test("a delay of years waits, and does not become a flood of rounds", async () => {
    let rounds = 0;
    const queue = start(async () => {
      rounds += 1;
      return { requeueAfterMs: 100 * 365 * 86_400_000 };
    });
    queue.add("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(rounds).toBe(1);
    await queue.stop();
  });

  test("a round may ask to be called again", async () => {
    let rounds = 0;
    const queue = start(async () => {
      rounds++;
      return rounds < 3 ? { requeueAfterMs: 1000 } : undefined;
    });
    queue.add("a");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(rounds).toBe(3);
    await queue.stop();
  });

  test("a stop aborts what runs, waits for it and starts nothing more", async () => {
    const seen: string[] = [];
    const queue = start(async (key, signal) => {
      seen.push(key);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.push(`${key} ended`);
      throw new Error("aborted");
    });
    queue.add("a");
    queue.add("b");
    queue.add("c", 10);
    await vi.advanceTimersByTimeAsync(1);
    await queue.stop();
    queue.add("d");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen).toEqual(["a", "a ended"]);
  });
});
