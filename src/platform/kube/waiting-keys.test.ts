import { expect, test } from "vitest";
import { createWaitingKeys } from "./waiting-keys.ts";

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
