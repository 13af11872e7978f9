import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createAcquireMetrics } from "./acquire-metrics.ts";

test("a pool's results begin at 0 before its first acquire, so that rates show that one too", async () => {
  const registry = new Registry();
  const owner = { key: "uid", createdAt: "2030-01-01T00:00:00Z", labels: { project: "p", pool: "a" } };
  const metrics = createAcquireMetrics(registry, { most: 1, owners: { pools: () => [owner], projects: () => [] } });
  const shown = async (result: string) =>
    new RegExp(`^browserpool_pool_acquires_total{project="p",pool="a",result="${result}"} (\\d+)$`, "m").exec(
      await registry.metrics(),
    )?.[1];
  expect(await shown("short")).toBe("0");
  metrics.acquired({ poolUid: "uid", project: "p" }, { result: "short", seconds: 3 });
  expect(await shown("short")).toBe("1");
  expect(await registry.metrics()).not.toContain("browserpool_pool_acquire_wait_seconds_count{");
  metrics.acquired({ poolUid: "uid", project: "p" }, { result: "granted", seconds: 0.002 });
  metrics.acquired({ poolUid: undefined, project: "p" }, { result: "granted", seconds: 2 });
  const told = await registry.metrics();
  expect(told).toContain('browserpool_pool_acquire_wait_seconds_count{project="p",pool="a"} 1');
  expect(told).toContain('browserpool_pool_acquire_wait_seconds_count{project="other",pool=""} 1');
});
