/** A new image for browsers: the operator replaces the pool at its fill rate, and no session is lost. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { events, pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { viewLeases } from "../support/lease-view.ts";
import { fullPool, openCdp } from "../support/pool-client.ts";
import { startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

const size = 3;
/** 2 s between two starts: r = 3 × 10 a minute. */
const fillRate = 1000;
const intervalMs = 2000;

test("idle browsers are replaced first, one after another, and one in use when its session ends", async () => {
  await using cluster = await startSimulatedCluster();
  const { kube, namespace } = cluster;
  const before = cluster.startOperator("operator-a", { BROWSERPOOL_BROWSER_IMAGE: "browser:1" });
  const api = await cluster.startApi("api");
  const pool = await fullPool(api.call, size);
  await api.call("PATCH", `/browser_pools/${pool.id}`, { fill_rate_per_minute: fillRate });
  const leases = await viewLeases(cluster.redisUrl, kube, namespace);
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  const held = await leases.podOf(pool.id, session.session_id);
  before.kill("SIGTERM");
  await before.exited;

  const images = async (): Promise<Map<string, string>> => {
    const { items } = await kube.list(pods, { namespace });
    return new Map(items.map((pod) => [pod.metadata.uid ?? "", pod.spec?.containers[0]?.image ?? ""]));
  };
  const startedMs: number[] = [];
  const known = new Set((await images()).keys());
  const watching = new AbortController();
  const fewest = (async () => {
    let least = size;
    while (!watching.signal.aborted) {
      for (const { metadata } of (await kube.list(pods, { namespace })).items)
        if (!known.has(metadata.uid ?? "")) {
          known.add(metadata.uid ?? "");
          startedMs.push(Date.parse(metadata.creationTimestamp ?? ""));
        }
      const { acquired, available } = await pool.counts();
      least = Math.min(least, acquired + available);
      await sleep(50);
    }
    return least;
  })();

  cluster.startOperator("operator-b", { BROWSERPOOL_BROWSER_IMAGE: "browser:2" });
  await eventually("all but the browser in use have the new image", async () => {
    const now = await images();
    return now.size === size && [...now.values()].filter((image) => image === "browser:2").length === size - 1;
  });
  expect((await images()).get(held)).toBe("browser:1");
  expect(await cdp.version()).toContain("simulated");
  await eventually("the browser in use has the leaving mark", async () => {
    const { browsers } = await leases.store.snapshot(await leases.uidOf(pool.id));
    return browsers.find(({ id }) => id === held)?.leaving === "PodOutdated";
  });
  await pool.release(session);
  await eventually("all have the new image", async () => {
    const { status } = (await kube.get(browserPoolKind, { namespace, name: pool.id })) ?? {};
    return status?.outdatedPods === 0 && status.available === size;
  });
  expect([...(await images()).values()]).toEqual(Array.from({ length: size }, () => "browser:2"));
  watching.abort();
  expect(await fewest).toBe(size - 1);
  // Creation times are whole seconds.
  for (const [place, atMs] of startedMs.slice(1).entries())
    expect(atMs - (startedMs[place] ?? 0)).toBeGreaterThanOrEqual(intervalMs - 1000);
  const { items } = await kube.list(events, { namespace });
  const reasons = (items as (KubeObject & { reason: string })[]).map(({ reason }) => reason);
  expect(reasons.filter((reason) => reason.startsWith("Roll")).sort()).toEqual(["RollCompleted", "RollStarted"]);
  leases.close();
}, 120_000);
