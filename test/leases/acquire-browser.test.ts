import { afterAll, beforeAll, expect, test } from "vitest";
import { unavailable } from "../../src/errors.ts";
import { createSessionNames } from "../../src/leases/session-names.ts";
import { createMetrics } from "../../src/metrics.ts";
import { acquireBrowser } from "../../src/services/acquire-browser.ts";
import { newId } from "../../src/services/new-id.ts";
import type { ServiceDeps } from "../../src/services/service-deps.ts";
import { eventually } from "../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts, startSmallAgent } from "../support/lease-parts.ts";
import { aPool } from "../support/seen-pool.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

test("a browser whose caller can't be answered goes back to its pool, and so does the session's name", async () => {
  const poolUid = newId();
  await using agent = await startSmallAgent();
  await parts.addBrowser(poolUid, agent.address, newId());
  const pool = aPool({}, undefined, { uid: poolUid });
  const names = createSessionNames(parts.redis, parts.store);
  const totals = () => ({ size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 });
  const deps = {
    ...parts,
    // The last thing that is read for the answer: Redis went away between the lease and it.
    store: { ...parts.store, config: () => Promise.reject(unavailable("Redis")) },
    grants: await parts.replica(),
    names,
    pools: { get: () => pool, list: () => [pool] },
    metrics: createMetrics(totals),
    log: silent,
  } as unknown as ServiceDeps;
  const projectId = newId();
  const project = { id: projectId, namespace: "project" } as never;
  const input = { idOrName: "pool", request: { name: "n" }, project, baseUrl: "http://127.0.0.1" };
  await expect(acquireBrowser(input, deps, new AbortController().signal)).rejects.toMatchObject({
    code: "unavailable",
  });
  await eventually("the browser is idle", async () => (await parts.store.counts(poolUid)).available === 1);
  expect(agent.holder()).toBeUndefined();
  expect(await names.find(projectId, "n")).toBeUndefined();
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 1 });
});
