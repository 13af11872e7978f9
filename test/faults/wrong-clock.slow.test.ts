/** Replicas whose clocks are minutes off: they keep serving, and no browser is blamed for it (LEASE-55). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { fullPool, openCdp, poolAt } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";
import { wrongClock } from "../support/wrong-clock.ts";

const minutes = 60;
const size = 4;

let cluster: SimulatedCluster;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const podUids = async (): Promise<string[]> =>
  (await cluster.kube.list(pods, { namespace: cluster.namespace })).items.map(({ metadata }) => metadata.uid).sort();

// LEASE-55
test("an API and an operator with wrong clocks fill, lease, connect and take back, and every browser lives on", async () => {
  const operator = cluster.startOperator("operator-a", { NODE_OPTIONS: wrongClock(-5 * minutes).join(" ") });
  const right = await cluster.startApi("api-right");
  const pool = await fullPool(right.call, size);
  const before = await podUids();
  expect(before).toHaveLength(size);

  for (const ahead of [-5 * minutes, 5 * minutes]) {
    const wrong = await cluster.startApi(`api-${ahead}`, wrongClock(ahead));
    const wrongPool = poolAt(wrong.call, pool.id);
    for (let round = 0; round < 2 * size; round++) {
      const session = await wrongPool.acquire();
      const cdp = await openCdp(session);
      expect(await cdp.version()).toContain("Chrome");
      expect(await wrongPool.release(session)).toBe(204);
      await cdp.closed;
    }
    // A lease that another replica bound: this one's first call to the agent is the connection itself.
    const session = await pool.acquire();
    const url = session.cdp_ws_url.replace(/^ws:\/\/[^/]+/, wrong.url.replace("http", "ws"));
    const cdp = await openCdp({ cdp_ws_url: url });
    expect(await cdp.version()).toContain("Chrome");
    expect(await pool.release(session)).toBe(204);
    await pool.whenCounts({ acquired: 0, available: size });
    wrong.kill("SIGKILL");
    await wrong.exited;
  }
  expect(await podUids()).toEqual(before);
  operator.kill("SIGKILL");
  await operator.exited;
});
