/** Pools that Git owns, over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BrowserPoolSpec, browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { eventually } from "../../support/eventually.ts";
import { collect, untilAvailable } from "../../support/filled-pool.ts";
import { type Stack, startStack } from "../../support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const name = "from-git";
const annotation = "browserpool.dev/managed-by";

const refused = { status: 409, error: { code: "read_only", message: expect.stringContaining(annotation) } };

// GITOPS-4, GITOPS-5
test("a pool that Git owns is handed out over HTTP and not changed, until the annotation goes", async () => {
  const { browserPools } = stack.kernel;
  const ref = { name, namespace: stack.namespace };
  const spec = BrowserPoolSpec.parse({ size: 1, headless: true, fillRatePerMinute: 6000 });
  await stack.kube.create(browserPoolKind, { metadata: { ...ref, annotations: { [annotation]: "git" } }, spec });
  await untilAvailable(stack.kernel, name, 1);
  const before = await stack.kube.get(browserPoolKind, ref);

  for (const call of [
    () => browserPools.update(name, { size: 2 }),
    () => browserPools.update(name, { discard_all_idle: true }),
    () => browserPools.flush(name),
    () => browserPools.delete(name, {}),
    () => browserPools.delete(name, { force: true }),
  ])
    await expect(call()).rejects.toMatchObject(refused);
  const after = await stack.kube.get(browserPoolKind, ref);
  expect([after?.spec, after?.metadata.deletionTimestamp]).toEqual([before?.spec, undefined]);
  expect(await browserPools.retrieve(name)).toMatchObject({ managed_by: "git", available_count: 1 });
  expect(await collect(browserPools.list())).toMatchObject([{ id: name, managed_by: "git" }]);

  const { session_id } = await browserPools.acquire(name, {});
  await browserPools.release(name, { session_id, reuse: true });

  await stack.kube.patch(browserPoolKind, ref, { metadata: { annotations: { [annotation]: null } } });
  expect(await browserPools.retrieve(name)).not.toHaveProperty("managed_by");
  await browserPools.flush(name);
  expect((await browserPools.update(name, { timeout_seconds: 700 })).browser_pool_config.timeout_seconds).toBe(700);
  await browserPools.delete(name, { force: true });
  await eventually("the pool is gone", async () => (await stack.kube.get(browserPoolKind, ref)) === undefined);
});
