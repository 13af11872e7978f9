import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createSessionMetrics } from "./session-metrics.ts";

const start = () => {
  const registry = new Registry();
  const clock = { ms: 0 };
  const metrics = createSessionMetrics(registry, { most: 1, nowMs: () => clock.ms });
  const pools = new Map([["uid-a", "a"]]);
  const at = "2030-01-01T00:00:00Z";
  metrics.follow({
    pools: () =>
      [...pools].map(([key, pool], index) => ({
        key,
        createdAt: at.replace("2030", String(2030 + index)),
        labels: { project: "p", pool },
      })),
    projects: () => [{ key: "p", createdAt: at, labels: { project: "p" } }],
  });
  const scrape = async (): Promise<string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line && !line.startsWith("#"));
  const end = (poolUid: string | undefined, project = "p") =>
    metrics.ended({ project, poolUid, reason: "released", seconds: 1.5 });
  return { clock, pools, scrape, end };
};

const ended = (project: string, pool: string) =>
  `browserpool_sessions_ended_total{project="${project}",pool="${pool}",reason="released"}`;

test("ended sessions are told of by pool, on-demand ones by their project, and those of newer pools and projects together", async () => {
  const { pools, scrape, end } = start();
  pools.set("uid-b", "b");
  for (const poolUid of ["uid-a", "uid-a", "uid-b", undefined]) end(poolUid);
  end(undefined, "unknown");
  expect(await scrape()).toEqual([
    `${ended("p", "a")} 2`,
    `${ended("other", "other")} 1`,
    `${ended("p", "")} 1`,
    `${ended("other", "")} 1`,
    'browserpool_session_seconds_total{project="p"} 6',
    'browserpool_session_seconds_total{project="other"} 1.5',
  ]);
});

test("the series of a deleted pool stay until they are scraped for the last time, and then go", async () => {
  const { clock, pools, scrape, end } = start();
  end("uid-a");
  pools.clear();
  expect(await scrape()).toContain(`${ended("p", "a")} 1`);
  clock.ms += 299_000;
  expect(await scrape()).toContain(`${ended("p", "a")} 1`);
  clock.ms += 1000;
  await scrape();
  expect((await scrape()).some((line) => line.includes('pool="a"'))).toBe(false);
});

test("a renamed pool leaves no series under its old name", async () => {
  const { pools, scrape, end } = start();
  end("uid-a");
  pools.set("uid-a", "renamed");
  await scrape();
  end("uid-a");
  const lines = await scrape();
  expect(lines).toContain(`${ended("p", "renamed")} 1`);
  expect(lines.some((line) => line.includes('pool="a"'))).toBe(false);
});
