/** A program takes over the address of a browser in use: no byte of a client, and no later caller, reaches it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { agentKeyType } from "../../src/core/pools/apply/agent-key-secrets.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { events, pods, secrets } from "../../src/platform/kube/resource-type.ts";
import type { ApiReplica, Replica } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { startImpostor } from "../support/impostor.ts";
import { fullPool, openCdp } from "../support/pool-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../support/simulated-node/simulated-cluster.ts";

let cluster: SimulatedCluster;
let api: ApiReplica;
let operator: Replica;

beforeAll(async () => {
  cluster = await startSimulatedCluster();
  operator = cluster.startOperator("operator-a");
  api = await cluster.startApi("api-a");
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const keySecrets = async (): Promise<string[]> => {
  const { items } = await cluster.kube.list(secrets, {
    namespace: cluster.namespace,
    fieldSelector: `type=${agentKeyType}`,
  });
  return items.map(({ metadata }) => metadata.name).toSorted();
};

// POD-2, POD-3
test("an impostor on the address of a browser in use gets no client and no further caller, and the browser is replaced", async () => {
  const pool = await fullPool(api.call, 1);
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  expect(await cdp.version()).toContain("Chrome");
  const [browser] = await cluster.node.pods();
  await cluster.node.turn({}, { refusing: true });
  await cdp.closed;
  await using impostor = await startImpostor({ kind: "none", host: browser?.address ?? "", port: 7510 });

  await expect(openCdp(session)).rejects.toThrow("503");
  expect(impostor.asked).toContain("upgrade");
  expect(impostor.heard()).toBe("");
  expect(await pool.release(session)).toBe(204);
  expect(impostor.asked).toContain("DELETE /lease");
  await pool.whenCounts({ acquired: 0, available: 1 });
  const next = await pool.acquire();
  const again = await openCdp(next);
  expect(await again.version()).toContain("Chrome");
  expect(impostor.heard()).toBe("");
  expect((await cluster.node.pods()).filter(({ holder }) => holder === next.session_id)).toMatchObject([
    { name: expect.not.stringMatching(browser?.name ?? "") },
  ]);
  const told = (await cluster.kube.list(events, { namespace: cluster.namespace })).items.map(({ note = "" }) => note);
  expect(told).toContainEqual(`browser ${browser?.name} is replaced: not_genuine`);
  again.close();
});

const commandLines = async (): Promise<string[]> => {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
};

const logs = async (): Promise<string[]> => {
  const names = (await readdir(cluster.dataDir)).filter((name) => name.endsWith(".log"));
  return Promise.all(names.map((name) => readFile(join(cluster.dataDir, name), "utf8")));
};

const redisDump = async (): Promise<string> => {
  const redis = new Redis(cluster.redisUrl);
  const keys = await redis.keys("*");
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  redis.disconnect();
  return Buffer.concat(dumps.filter((dump) => dump !== null)).toString("latin1");
};

// POD-5
test("an agent's key is nowhere but in its Secret: not in objects, events, Redis, logs and arguments", async () => {
  const pool = await fullPool(api.call, 1);
  const session = await pool.acquire();
  const { items } = await cluster.kube.list(secrets, {
    namespace: cluster.namespace,
    fieldSelector: `type=${agentKeyType}`,
  });
  const values = items.map(({ data }) => Buffer.from(data?.key ?? "", "base64").toString());
  expect(values.every((value) => /^[\w-]{43}$/.test(value))).toBe(true);
  const objects = [pods, events, browserPoolKind] as const;
  const places = [
    ...(await Promise.all(objects.map(async (type) => JSON.stringify(await cluster.kube.list<KubeObject>(type))))),
    await redisDump(),
    ...(await logs()),
    ...(await commandLines()),
  ];
  for (const value of values) for (const place of places) expect(place.includes(value)).toBe(false);
  expect(await pool.release(session)).toBe(204);
  expect((await api.call("DELETE", `/browser_pools/${pool.id}`, { force: true })).status).toBe(204);
});

// POD-5
test("each browser has a Secret with its key, which goes with it, also when no operator saw it go", async () => {
  const pool = await fullPool(api.call, 3);
  const namesOf = async (): Promise<string[]> => {
    const { items } = await cluster.kube.list(pods, { namespace: cluster.namespace });
    return items.map(({ metadata }) => `${metadata.name}-agent-key`).toSorted();
  };
  expect(await keySecrets()).toEqual(await namesOf());
  const orphan = { namespace: cluster.namespace, name: "left-behind-agent-key" };
  const [known] = (await cluster.kube.list(secrets, { namespace: cluster.namespace })).items.filter(({ metadata }) =>
    metadata.name.startsWith(pool.id),
  );
  const labels = { ...known?.metadata.labels, "browserpool.dev/pod": "left-behind" };
  await cluster.kube.create(secrets, { metadata: { ...orphan, labels }, type: agentKeyType });
  const session = await pool.acquire();
  expect(await pool.release(session, false)).toBe(204);
  await pool.whenCounts({ acquired: 0, available: 3 });
  const withOrphan = async () => [...(await namesOf()), orphan.name].toSorted();
  await eventually(
    "the key of the pod that goes is gone",
    async () => `${await keySecrets()}` === `${await withOrphan()}`,
  );
  operator.kill("SIGKILL");
  await operator.exited;
  operator = cluster.startOperator("operator-b");
  await eventually("the keys are those of the pods", async () => `${await keySecrets()}` === `${await namesOf()}`);
  expect((await api.call("DELETE", `/browser_pools/${pool.id}`)).status).toBe(204);
  await eventually("its keys are gone", async () => (await keySecrets()).every((name) => !name.startsWith(pool.id)));
}, 120_000);
