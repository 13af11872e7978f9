/**
 * How often a pool's status is written while its browsers are leased and released: with many browsers, the counts
 * differ every time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { fullPool } from "../support/pool-client.ts";
import { startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

test("a status is written about twice a second, and no write causes the next one", async () => {
  await using cluster = await startSimulatedCluster();
  await cluster.startOperator("operator").logged("leading");
  const api = await cluster.startApi("api");
  const pool = await fullPool(api.call, 20);
  const untilMs = performance.now() + 4000;
  const keepCalling = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const session = await pool.acquire();
      await sleep(Math.random() * 40);
      await pool.release(session);
    }
  };
  const versions = new Set<string | undefined>();
  const readStatus = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const read = await cluster.kube.get(browserPoolKind, { namespace: cluster.namespace, name: pool.id });
      versions.add(read?.metadata.resourceVersion);
      await sleep(5);
    }
  };
  await Promise.all([readStatus(), ...Array.from({ length: 12 }, keepCalling)]);
  expect(versions.size).toBeGreaterThan(2);
  expect(versions.size).toBeLessThan(15);
});
