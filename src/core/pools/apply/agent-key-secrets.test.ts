import { expect, test } from "vitest";
import { newPodSuffix } from "../../protocol/agent-key.ts";
import { createKeySweeps, selectDead } from "./agent-key-secrets.ts";

const podName = (): string => `b1c2d3f4g5h6j7k8l9m1n2p3-${newPodSuffix()}`;

/** Whether an API server would select the Secret of a pod by this selector. */
const selects = (selector: string, pod: string): boolean => {
  const list = (expression: RegExp): string[] | undefined => expression.exec(selector)?.[1]?.split(",");
  const ends = list(/pod-end in \(([^)]*)\)/);
  return (ends?.includes(pod.slice(-2)) ?? true) && !list(/pod notin \(([^)]*)\)/)?.includes(pod);
};

test.each([0, 1, 20, 64, 65, 1000, 10_000])("the keys without a pod are selected beside %i living ones", (count) => {
  const living = Array.from({ length: count }, podName);
  const selectors = selectDead("uid", living);
  for (const pod of living.slice(0, 100)) expect(selectors.filter((one) => selects(one, pod))).toEqual([]);
  for (const pod of Array.from({ length: 100 }, podName))
    expect(selectors.filter((one) => selects(one, pod))).toHaveLength(1);
});

test("no selector grows with the number of pods", () => {
  for (const count of [1000, 10_000]) {
    const lengths = selectDead("uid", Array.from({ length: count }, podName)).map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(5000);
    expect(lengths.length).toBeLessThan(count / 16);
  }
});

test("a pool is swept whole once, and then for the pods that are gone", () => {
  const sweeps = createKeySweeps();
  sweeps.request("pool", "gone before");
  expect(sweeps.take("pool")).toBe("all");
  expect(sweeps.take("pool")).toBeUndefined();
  sweeps.request("pool", "a");
  sweeps.request("pool", "b");
  sweeps.request("pool", "a");
  expect(sweeps.take("pool")).toEqual(["a", "b"]);
  expect(sweeps.take("pool")).toBeUndefined();
  sweeps.putBack("pool", ["b"]);
  expect(sweeps.take("pool")).toEqual(["b"]);
  sweeps.putBack("pool", "all");
  expect(sweeps.take("pool")).toBe("all");
  sweeps.forget("pool");
  expect(sweeps.take("pool")).toBe("all");
});
