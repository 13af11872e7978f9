import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { policyPartPrefix } from "../../../src/core/model/settings/pool-policy.ts";
import { configMaps } from "../../../src/platform/kube/resource-type.ts";
import { type OrgApi, startOrgApi } from "./org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi({ BROWSERPOOL_BROWSER_FEATURES: "chrome_policy" });
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** Too large for the object of its pool. */
const policyOf = (list: string): Record<string, unknown> => ({
  URLBlocklist: [list, ...Array.from({ length: 6000 }, () => `https://${randomBytes(20).toString("hex")}.example`)],
});

// POOL-PATCH-13
test("a change of a large policy deletes the parts of the old one, and those alone", async () => {
  const namespace = api.services.projects.find(api.defaultProject)?.namespace ?? "";
  const { browserPools } = api.client();
  const made = { size: 1, chrome_policy: policyOf("first.example") };
  // The API server compiles the rules of pools with the first one, which may take it longer than a caller waits.
  const { id: name } = await browserPools.create(made, { maxRetries: 5 });
  const parts = async (): Promise<string[]> => {
    const { items } = await api.kube.list(configMaps, { namespace });
    return items.map(({ metadata }) => metadata.name).filter((each) => each.startsWith(policyPartPrefix(name)));
  };
  const referred = async () =>
    (await api.kube.get(browserPoolKind, { namespace, name }))?.spec.chromePolicyRef?.configMaps;
  const before = await parts();
  expect(before).toEqual(await referred());
  await browserPools.update(name, { chrome_policy: policyOf("second.example") });
  const after = await parts();
  expect(after).toEqual(await referred());
  expect(after.some((part) => before.includes(part))).toBe(false);
  await browserPools.delete(name, { force: true });
});
