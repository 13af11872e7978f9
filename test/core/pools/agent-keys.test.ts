/** Keys of agents whose pods are gone, on a real API server. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  buildAgentKeySecret,
  createKeySweeps,
  sweepAgentKeys,
} from "../../../src/core/pools/apply/agent-key-secrets.ts";
import { poolLabel } from "../../../src/core/pools/pod/pod.ts";
import { newPodSuffix } from "../../../src/core/protocol/agent-key.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { forAll } from "../../support/for-all.ts";
import { agentKeys, silent } from "../../support/lease-parts.ts";
import { aPool } from "../../support/observed-pool.ts";

let kube: Kube;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
afterAll(() => kube?.close());

/** A pool with keys for these pods, and its sweeps; `requests`: what each of them asked of the API server. */
const setUp = async (pods: string[], living: string[]) => {
  const { name: namespace } = await testNamespace(kube);
  const uid = randomBytes(8).toString("hex");
  const pool = aPool({}, {}, { uid, namespace });
  await forAll(pods, 16, (name) =>
    kube.create(
      secrets,
      buildAgentKeySecret({ metadata: { name, namespace, labels: { [poolLabel]: uid } } }, agentKeys.keyOf(name)),
    ),
  );
  const requests: string[] = [];
  const noted = new Proxy(kube, {
    get:
      (target, method) =>
      (...args: unknown[]) => {
        requests.push(JSON.stringify([method, ...args.slice(1)]));
        return Reflect.get(target, method)(...args);
      },
  });
  const podsNow = new Set(living);
  const keySweeps = createKeySweeps();
  const podsByOwner = { of: () => [...podsNow].map((name) => ({ metadata: { name } }) as Pod) };
  const expectations = { pendingNames: () => [] };
  const deps = { kube: noted, keySweeps, podsByOwner, expectations, lead: { check: () => undefined }, log: silent };
  return {
    requests,
    podsNow,
    request: (pod: string) => keySweeps.request(uid, pod),
    sweep: () => sweepAgentKeys(pool, deps),
    keys: async () =>
      (await kube.list(secrets, { namespace })).items.map(({ metadata }) => metadata.labels?.["browserpool.dev/pod"]),
  };
};

// POD-5
test("a new leader deletes the keys without a pod of a large pool, by requests that don't grow with it", async () => {
  const pods = Array.from({ length: 200 }, () => `pool-${newPodSuffix()}`);
  const living = pods.slice(50);
  const { sweep, keys, requests, podsNow, request } = await setUp(pods, living);
  await sweep();
  expect((await keys()).toSorted()).toEqual(living.toSorted());
  expect(Math.max(...requests.map(({ length }) => length))).toBeLessThan(5000);
  expect(requests.length).toBeLessThan(8);

  const [gone = "", back = ""] = living;
  podsNow.delete(gone);
  for (const name of [gone, back, "never-made"]) request(name);
  requests.length = 0;
  await sweep();
  await sweep();
  expect((await keys()).toSorted()).toEqual(living.slice(1).toSorted());
  expect(requests).toHaveLength(2);
});
