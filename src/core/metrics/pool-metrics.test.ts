import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createPoolMetrics, type PoolFigures } from "./pool-metrics.ts";

const figures = (pool: string, second: number, size: number): PoolFigures => ({
  key: pool,
  project: "p",
  pool,
  createdAt: `2030-01-01T00:00:0${second}Z`,
  size,
  available: size - 1,
  acquired: 1,
  starting: 0,
  waiting: second,
  outdated: { image: second, configuration: 0 },
  chromium: [{ version: `15${second}.0.7800.12`, browsers: second }],
});

const scrape = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split("\n").filter((line) => line && !line.startsWith("#"));

test("the oldest pools have labels of their own, the others are added up, and what is gone is not told of any more", async () => {
  const registry = new Registry();
  let pools = [figures("new", 4, 40), figures("newer", 5, 50), figures("b", 2, 20), figures("a", 1, 10)];
  createPoolMetrics(registry, { most: 2, pools: () => pools });
  const browsers = (pool: string, state: string, project = "p") =>
    `browserpool_pool_browsers{project="${project}",pool="${pool}",state="${state}"}`;
  const lines = await scrape(registry);
  expect(lines).toContain(`${browsers("a", "wanted")} 10`);
  expect(lines).toContain(`${browsers("b", "available")} 19`);
  expect(lines).toContain(`${browsers("other", "wanted", "other")} 90`);
  expect(lines).toContain(`${browsers("other", "acquired", "other")} 2`);
  expect(lines).toContain('browserpool_pool_waiting_callers{project="other",pool="other"} 9');
  expect(lines).toContain('browserpool_pool_outdated_browsers{project="p",pool="b",outdated="image"} 2');
  expect(lines).toContain('browserpool_pool_chromium_browsers{project="p",pool="b",version="152.0.7800.12"} 2');
  expect(lines).toContain('browserpool_pool_chromium_browsers{project="other",pool="other",version="155.0.7800.12"} 5');
  expect(lines.some((line) => line.includes("new"))).toBe(false);

  pools = pools.filter(({ pool }) => pool !== "a");
  const later = await scrape(registry);
  expect(later.some((line) => line.includes('pool="a"'))).toBe(false);
  expect(later).toContain(`${browsers("new", "wanted")} 40`);
  expect(later).toContain(`${browsers("other", "wanted", "other")} 50`);
});
