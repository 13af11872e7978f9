import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createOperatorMetrics } from "./operator-metrics.ts";

test("an operator tells of a recovery until its last browser is asked, and no longer when it does not lead any more", async () => {
  const registry = new Registry();
  let isLeading = true;
  const metrics = createOperatorMetrics(registry, () => isLeading);
  const shown = async () =>
    Number(/^browserpool_recovering_browsers (\d+)$/m.exec(await registry.metrics())?.[1] ?? Number.NaN);
  metrics.recovering("a", 3);
  metrics.recovering("b", 2);
  expect(await shown()).toBe(5);
  metrics.recovering("a", 0);
  expect(await shown()).toBe(2);
  isLeading = false;
  expect(await shown()).toBe(0);
  isLeading = true;
  expect(await shown()).toBe(0);
});
