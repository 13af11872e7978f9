/** Chrome policies that are too large for a custom resource: up to 5 MiB (POOL-17, LIMIT-6). */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { configMaps } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { emptyPool, filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let namespace: string;
beforeAll(async () => {
  stack = await startProject();
  ({ namespace } = stack);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const maxBytes = 5 * 1024 * 1024;

/** A policy of that many bytes of JSON, which gzip shrinks to hardly less than three quarters. */
const policyOf = (bytes: number): { HomepageLocation: string } => {
  const room = bytes - JSON.stringify({ HomepageLocation: "" }).length;
  return {
    HomepageLocation: randomBytes(Math.ceil(room * 0.75))
      .toString("base64")
      .slice(0, room),
  };
};

/** Names of the ConfigMaps that hold parts of the pool's policies. */
const partsOf = async (id: string): Promise<string[]> => {
  const labelSelector = `browserpool.dev/pool-policy=${id}`;
  const { items } = await stack.kube.list(configMaps, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.name).sort();
};

const specOf = async (id: string): Promise<BrowserPool["spec"]> =>
  ((await stack.kube.get(browserPoolKind, { namespace, name: id })) as BrowserPool).spec;

/** Compares texts by a digest, because a failed deep equality prints megabytes. */
const expectPolicy = (answered: unknown, policy: object): void =>
  expect(JSON.stringify(answered) === JSON.stringify(policy)).toBe(true);

/** A pool that a user can write as YAML: it refers to a ConfigMap that does not hold its policy. */
const refer = async (id: string, configMap: string): Promise<void> => {
  const spec = { chromePolicyRef: { sha256: "0".repeat(64), configMaps: [configMap] } };
  await stack.kube.patch(browserPoolKind, { namespace, name: id }, { spec });
};

const configOf = async (id: string) => (await stack.kernel.browserPools.retrieve(id)).browser_pool_config;

const patch = async (id: string, body: object) => {
  const response = await stack.call("PATCH", `/browser_pools/${id}`, body);
  return { status: response.status, body: (await response.json()) as { browser_pool_config: object; code?: string } };
};

// POOL-17, POOL-PATCH-4, LIMIT-6
test("a policy of 5 MiB is stored whole, read back, changed, cleared, and deleted with its pool", async () => {
  const first = policyOf(maxBytes);
  const created = await emptyPool(stack.kernel, { chrome_policy: first });
  const { id } = created;
  expectPolicy(created.browser_pool_config.chrome_policy, first);
  expect(created.browser_pool_config).not.toHaveProperty("chrome_policy_ref");
  expectPolicy((await configOf(id)).chrome_policy, first);
  for await (const pool of stack.kernel.browserPools.list())
    if (pool.id === id) expect(pool.browser_pool_config).not.toHaveProperty("chrome_policy");
  const stored = await specOf(id);
  expect(stored).not.toHaveProperty("chromePolicy");
  const parts = stored.chromePolicyRef?.configMaps ?? [];
  expect(parts.length).toBeGreaterThan(1);
  expect(await partsOf(id)).toEqual([...parts].sort());

  expect((await patch(id, { stealth: true })).status).toBe(200);
  expectPolicy((await configOf(id)).chrome_policy, first);
  expect((await specOf(id)).chromePolicyRef).toEqual(stored.chromePolicyRef);

  const second = policyOf(maxBytes);
  const replaced = await patch(id, { chrome_policy: second });
  expectPolicy((replaced.body.browser_pool_config as { chrome_policy?: object }).chrome_policy, second);
  const secondParts = (await specOf(id)).chromePolicyRef?.configMaps ?? [];
  expect(await partsOf(id)).toEqual([...secondParts].sort());

  expect((await patch(id, { chrome_policy: policyOf(maxBytes + 1) })).status).toBe(400);
  expect(await partsOf(id)).toEqual([...secondParts].sort());

  expect((await patch(id, { chrome_policy: {} })).body.browser_pool_config).not.toHaveProperty("chrome_policy");
  expect(await partsOf(id)).toEqual([]);

  await patch(id, { chrome_policy: second });
  expect((await partsOf(id)).length).toBeGreaterThan(1);
  await stack.kernel.browserPools.delete(id);
  await eventually("the pool is gone", async () => !(await stack.kube.get(browserPoolKind, { namespace, name: id })));
  expect(await partsOf(id)).toEqual([]);
});

test("when several callers write policies at once, the parts of exactly one remain", async () => {
  const { id } = await emptyPool(stack.kernel, { chrome_policy: policyOf(400_000) });
  const same = policyOf(400_000);
  const policies = [same, same, policyOf(400_000), same];
  const answers = await Promise.all(policies.map((chrome_policy) => patch(id, { chrome_policy })));
  expect(answers.map(({ status }) => status)).toEqual(policies.map(() => 200));
  expect((await specOf(id)).chromePolicyRef?.configMaps).toEqual(await partsOf(id));
  const { chrome_policy } = await configOf(id);
  expect(policies.some((policy) => JSON.stringify(policy) === JSON.stringify(chrome_policy))).toBe(true);
});

// LEASE-11
test("a session shows its large policy, and omits it after the pool got another one", async () => {
  const policy = policyOf(1_000_000);
  const { id } = await filledPool(stack.kernel, { chrome_policy: policy });
  const { session_id, ...session } = await stack.kernel.browserPools.acquire(id, {});
  expectPolicy(session.chrome_policy, policy);
  await patch(id, { chrome_policy: { PrintingEnabled: false } });
  await eventually("the API has seen the change", async () => {
    const answer = await stack.kernel.browsers.retrieve(session_id);
    return !("chrome_policy" in answer);
  });
  await stack.kernel.browserPools.release(id, { session_id });
});

describe("a pool's policy is refused or omitted", () => {
  // LIMIT-6
  test("when it is above 5 MiB, and nothing of it is stored", async () => {
    const before = (await stack.kube.list(configMaps, { namespace })).items.length;
    const response = await stack.call("POST", "/browser_pools", { size: 1, chrome_policy: policyOf(maxBytes + 1) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ details: [{ path: "chrome_policy" }] });
    const taken = { size: 51, fill_rate_per_minute: 0, chrome_policy: policyOf(400_000) };
    expect((await stack.call("POST", "/browser_pools", taken)).status).toBe(400);
    expect((await stack.kube.list(configMaps, { namespace })).items.length).toBe(before);
  });

  test("when it refers to parts that do not exist; writing the policy again repairs it", async () => {
    const policy = policyOf(400_000);
    const { id } = await emptyPool(stack.kernel, { chrome_policy: policy });
    await refer(id, "not-there");
    expect(await configOf(id)).not.toHaveProperty("chrome_policy");
    await patch(id, { chrome_policy: policy });
    expectPolicy((await configOf(id)).chrome_policy, policy);
  });

  test("when it refers to a foreign ConfigMap, which is never deleted", async () => {
    const name = `foreign-${newId()}`;
    await stack.kube.create(configMaps, { metadata: { name, namespace }, data: { a: "b" } });
    const { id } = await emptyPool(stack.kernel);
    await refer(id, name);
    expect(await configOf(id)).not.toHaveProperty("chrome_policy");
    expect((await patch(id, { chrome_policy: {} })).status).toBe(200);
    expect(await specOf(id)).not.toHaveProperty("chromePolicyRef");
    expect(await stack.kube.get(configMaps, { name, namespace })).toMatchObject({ data: { a: "b" } });
  });
});

test("an inline YAML policy stays inline, and a change that would make the object too large is refused", async () => {
  const name = newId();
  const chromePolicy = policyOf(1_400_000);
  const spec = { size: 1, fillRatePerMinute: 0, chromePolicy };
  await stack.kube.create(browserPoolKind, { metadata: { name, namespace }, spec } as unknown as BrowserPool);
  expect((await patch(name, { stealth: true })).status).toBe(200);
  expect(await specOf(name)).not.toHaveProperty("chromePolicyRef");
  const host = `${"a".repeat(63)}.`.repeat(3);
  const allowed_hosts = Array.from({ length: 1024 }, (_, i) => `${host}${i}.test`);
  expect(await patch(name, { network: { allowed_hosts } })).toMatchObject({
    status: 413,
    body: { code: "payload_too_large" },
  });
});
