import { expect, test } from "vitest";
import { aPod, podKinds } from "../../../../test/support/observed-pool.ts";
import { createLogger } from "../../../platform/base/log.ts";
import { createResizes } from "./resizes.ts";

const log = createLogger("silent", "test");

const setUp = ({ isOn = true } = {}) => {
  let nowMs = 1000;
  const counted: string[] = [];
  const resizes = createResizes({ isOn, monotonicMs: () => nowMs, count: (result) => counted.push(result), log });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { resizes, counted, pass };
};

test("a refused resize is tried again later and later, and then given up until the mark changes", () => {
  const { resizes, counted, pass } = setUp();
  for (const waitMs of [5, 10, 20, 40, 80].map((seconds) => seconds * 1000)) {
    expect(resizes.mayTry("a")).toBe(true);
    resizes.refused("a");
    pass(waitMs - 1);
    expect(resizes.mayTry("a")).toBe(false);
    pass(1);
  }
  expect(resizes.mayTry("a")).toBe(true);
  resizes.refused("a");
  pass(86_400_000);
  expect(resizes.mayTry("a")).toBe(false);
  expect(counted).toEqual([...Array(5).fill("refused"), "given_up"]);
  resizes.marked("a");
  expect(resizes.mayTry("a")).toBe(true);
});

test("the first refusal is told of, and the next only when a resize has succeeded meanwhile", () => {
  const { resizes } = setUp();
  expect([resizes.refused("a"), resizes.refused("b"), resizes.refused("a")]).toEqual([true, false, false]);
  resizes.done("b");
  expect(resizes.refused("a")).toBe(true);
});

test("no pod is resized where it is off", () => {
  expect(setUp({ isOn: false }).resizes.mayTry("a")).toBe(false);
});

test("a pod whose node can't give what it asks for is told of once, until it can", () => {
  const { resizes, counted } = setUp();
  const { pod } = aPod("a", podKinds.leased);
  const pending = (reason: string) => ({
    ...pod,
    status: { conditions: [{ type: "PodResizePending", status: "True" as const, reason }] },
  });
  resizes.look(pending("Deferred"));
  expect(counted).toEqual([]);
  resizes.look(pending("Infeasible"));
  resizes.look(pending("Infeasible"));
  expect(counted).toEqual(["infeasible"]);
  resizes.look(pod);
  resizes.look(pending("Infeasible"));
  expect(counted).toEqual(["infeasible", "infeasible"]);
});
