import { expect, test } from "vitest";
import { ensureOrganizationKey } from "../../src/bootstrap/ensure-organization-key.ts";
import { type RunningApi, startApi } from "../../src/cmd/api.ts";
import { newApiKey } from "../../src/services/api-keys/api-key-secret.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { startOrg } from "../org/org-parts.ts";
import { startBreakableLink } from "../support/breakable-link.ts";
import { sharedServers } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { silent } from "../support/lease-parts.ts";

// HTTP-21
test("a replica that stops keeps its last answers, however slow Redis is: a repetition gets them from another one", async () => {
  await using stack = new AsyncDisposableStack();
  const { kubeconfigPath, redisUrl } = await sharedServers();
  const redis = new URL(redisUrl);
  const link = stack.adopt(await startBreakableLink(Number(redis.port)), (each) => each.close());
  redis.port = String(link.port);
  const { kube, config } = stack.use(await startOrg());
  const start = (url: string): Promise<RunningApi> =>
    startApi({ config: { ...config, redisUrl: url }, kubeconfigPath }, silent);
  const first = await start(redis.href);
  const second = stack.adopt(await start(redisUrl), (api) => api.stop());
  const key = newApiKey();
  await ensureOrganizationKey({ kube, namespace: config.systemNamespace, key, name: "test" });
  for (const { services } of [first, second])
    await eventually("the key is accepted", () => services.apiKeys.authenticate(key) !== undefined);

  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": newId(),
  };
  const create = async ({ url }: RunningApi): Promise<unknown> => {
    const answer = await fetch(`${url}/org/api_keys`, { method: "POST", headers, body: '{"name":"k"}' });
    return { status: answer.status, body: await answer.json() };
  };
  const { kube: own } = first.services;
  first.services.kube = {
    ...own,
    async create(...what: Parameters<typeof own.create>) {
      const created = await own.create(...what);
      link.freeze();
      return created;
    },
  } as typeof own;
  const answered = await create(first);
  const stopped = first.stop();
  // Longer than a stop takes that waits for nothing, and than Redis needs to be taken for silent.
  setTimeout(link.thaw, 1000);
  await stopped;
  expect(answered).toMatchObject({ status: 201, body: { name: "k" } });
  expect(await create(second)).toEqual(answered);
});
