import { expect, test } from "vitest";
import { createInTurn } from "./in-turn.ts";

/** Works that a test ends itself. */
const start = ({ most = 100, atOnce = 2 } = {}) => {
  const batches: { batch: string[]; done: PromiseWithResolvers<void> }[] = [];
  const finished: string[] = [];
  const lost: unknown[] = [];
  const inTurn = createInTurn<string>({
    ...{ most, atOnce, pauseMs: 0 },
    merge: (before, after) => `${before}+${after}`,
    async work(batch) {
      const done = Promise.withResolvers<void>();
      batches.push({ batch, done });
      await done.promise;
      return () => void finished.push(...batch);
    },
    onLost: (cause) => lost.push(cause),
  });
  const finish = async (index: number) => {
    await expect.poll(() => batches.length).toBeGreaterThan(index);
    batches[index]?.done.resolve();
  };
  return { inTurn, batches, finished, lost, finish };
};

// EVENT-2
test("what changes again before its turn is worked on once, and never before what is under way", async () => {
  const { inTurn, batches, finished, finish } = start();
  inTurn.add("a", "a1");
  for (const [key, change] of ["a2", "b1", "a3", "c1"].map((change) => [change.slice(0, 1), change] as const))
    inTurn.add(key, change);
  expect(batches.map(({ batch }) => batch)).toEqual([["a1"]]);
  for (const index of [0, 1, 2]) await finish(index);
  await expect.poll(() => finished).toEqual(["a1", "a2+a3", "b1", "c1"]);
});

// EVENT-4
test("what is forgotten is not finished, though it was under way", async () => {
  const { inTurn, batches, finished, finish } = start();
  inTurn.add("a", "a1");
  inTurn.add("b", "b1");
  inTurn.forget();
  inTurn.add("c", "c1");
  for (const index of [0, 1]) await finish(index);
  await expect.poll(() => finished).toEqual(["c1"]);
  expect(batches.map(({ batch }) => batch)).toEqual([["a1"], ["c1"]]);
});

// EVENT-4
test("too many that wait are lost, and so is what waits behind a work that failed; the next one goes on", async () => {
  const { inTurn, batches, finished, lost, finish } = start({ most: 2 });
  for (const key of ["a", "b", "c", "d"]) inTurn.add(key, key);
  expect(lost).toMatchObject([{ message: "more than 2 changes wait" }]);
  inTurn.add("e", "e");
  await finish(0);
  await expect.poll(() => batches.length).toBe(2);
  inTurn.add("f", "f");
  batches[1]?.done.reject(new Error("no answer"));
  await expect.poll(() => lost.length).toBe(2);
  inTurn.add("g", "g");
  await finish(2);
  await expect.poll(() => finished).toEqual(["g"]);
});
