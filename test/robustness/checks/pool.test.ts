import { expect, test } from "vitest";
import { fillRate } from "./fill-rate.ts";
import { podsWithinSize } from "./pods-within-size.ts";
import { change, fault, inOrder, pod, poolIs, scripts } from "./small-history.ts";

const made = (...atMs: number[]) => atMs.map((at, index) => pod(at, `b${index}-${at}`, "ADDED"));

test("as many pods as the size are well, and a new one once another has ended", () => {
  const pods = [...made(1000, 2000), pod(3000, "b0-1000", "MODIFIED", { phase: "Failed" }), ...made(3100)];
  expect(podsWithinSize.find(inOrder(poolIs(0, "create", { size: 2, fillRatePerMinute: 1000 }), pods))).toEqual([]);
});

test("a pod too many is found, one that is being deleted counting as live", () => {
  const pool = poolIs(0, "create", { size: 2, fillRatePerMinute: 1000 });
  const dying = pod(2500, "b0-1000", "MODIFIED", { deletionAt: "x" });
  expect(podsWithinSize.find(inOrder(pool, made(1000, 2000), dying, made(3000)))).toHaveLength(1);
});

test("a pool that shrinks may have more than its size, but makes none", () => {
  const pool = inOrder(
    poolIs(0, "create", { size: 2, fillRatePerMinute: 1000 }),
    poolIs(5000, "resize", { size: 1 }),
    made(1000, 2000),
  );
  expect(podsWithinSize.find(pool)).toEqual([]);
  // Long after, no watch is that late.
  const gone = pod(30_000, "b0-1000", "DELETED");
  expect(podsWithinSize.find(inOrder(pool, gone, made(31_000)))).toHaveLength(1);
});

// 10 browsers at 600 % a minute: one each second.
const paced = poolIs(0, "create", { size: 10, fillRatePerMinute: 600 });

test("starts at the pace of the pool are well", () => {
  expect(fillRate.find(inOrder(paced, made(1000, 2000, 3000, 4000, 9000, 10_000)))).toEqual([]);
});

test("starts that are too close together are found", () => {
  expect(fillRate.find(inOrder(paced, made(1000, 1001, 1002, 1003, 1004)))).not.toEqual([]);
  // A second of rounding and a late one are well once, time and again they are not.
  expect(fillRate.find(inOrder(paced, made(1000, 1001)))).toEqual([]);
  const twiceAsFast = Array.from({ length: 8 }, (_, index) => 1000 + 500 * index);
  expect(fillRate.find(inOrder(paced, made(...twiceAsFast)))).not.toEqual([]);
  expect(fillRate.find(inOrder(paced, made(...twiceAsFast), fault([900, 2000], "apiserver-restart")))).toEqual([]);
});

test("discarded browsers are rebuilt at once, one for one", () => {
  const discarded = (count: number) =>
    scripts([
      [
        900,
        "retire",
        ...Array.from({ length: count }, (_, i) => change.state(`o${i}`, "idle", "retired", { reason: "Discarded" })),
      ],
    ]);
  const pods = made(1000, 1001, 1002, 1003, 1004, 1005);
  expect(fillRate.find(inOrder(paced, discarded(3), pods))).toEqual([]);
  expect(fillRate.find(inOrder(paced, discarded(2), pods))).toHaveLength(1);
});

test("a rate that is raised counts at once, and a paused pool starts nothing", () => {
  const slow = poolIs(0, "create", { size: 1, fillRatePerMinute: 100 });
  expect(
    fillRate.find(inOrder(slow, made(1000), poolIs(2000, "rate", { fillRatePerMinute: 3000 }), made(4000))),
  ).toEqual([]);
  expect(fillRate.find(inOrder(poolIs(0, "create", { size: 1, fillRatePerMinute: 0 }), made(1000)))).toHaveLength(1);
});
