/** Leases that are ended by force while their agents would keep them. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { fullPool, openCdp } from "../support/pool-client.ts";
import type { AgentEvent } from "../support/simulated-node/agent-event.ts";
import { startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

test("a pool that is deleted by force ends its leases at the agents, which exit in order and are not killed", async () => {
  await using cluster = await startSimulatedCluster();
  cluster.startOperator("operator");
  const api = await cluster.startApi("api");
  const pool = await fullPool(api.call, 3);
  const sessions = await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()]);
  const cdps = await Promise.all(sessions.map(openCdp));
  expect((await api.call("DELETE", `/browser_pools/${pool.id}`, { force: true })).status).toBe(204);
  await Promise.all(cdps.map(({ closed }) => closed));
  const { namespace } = cluster;
  await eventually("no pod is left", async () => (await cluster.kube.list(pods, { namespace })).items.length === 0);
  await cluster.node.flush();
  const lines = (await readFile(cluster.eventsFile, "utf8")).split("\n").slice(0, -1);
  const told = lines.map((line) => JSON.parse(line) as AgentEvent);
  const ends = told.filter(({ what }) => what === "ended").map(({ session }) => session);
  expect(new Set(ends)).toEqual(new Set(sessions.map(({ session_id }) => session_id)));
  expect(told.filter(({ what }) => what === "exit").map(({ code }) => code)).toEqual(["stopped", "stopped", "stopped"]);
});
