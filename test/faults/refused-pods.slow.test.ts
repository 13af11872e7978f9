/**
 * Pods that the API server does not create: callers, conditions and Events say why, and browsers start when it takes
 * them again.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { Condition } from "../../src/platform/kinds/conditions.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { events, type ResourceType } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { poolAt } from "../support/pool-client.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

const kindOf = (group: string, kind: string, plural: string, namespaced: boolean): ResourceType<KubeObject> =>
  ({ group, version: "v1", kind, plural, namespaced }) as ResourceType<KubeObject>;
const quotas = kindOf("", "ResourceQuota", "resourcequotas", true);
const webhooks = kindOf(
  "admissionregistration.k8s.io",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
  false,
);

let stack: LocalProject;
beforeEach(async () => {
  stack = await startProject();
});
afterEach(() => stack?.[Symbol.asyncDispose]());

/** Refuses all pods of the project until it is called. */
type Refuse = () => Promise<() => Promise<void>>;

/** No quota controller runs here, which would write the status: what there is, and how much of it is used. */
const byQuota: Refuse = async () => {
  const ref = { namespace: stack.namespace, name: "no-pods" };
  const made = await stack.kube.create(quotas, {
    metadata: ref,
    spec: { hard: { pods: "0" } },
  } as unknown as KubeObject);
  const status = { hard: { pods: "0" }, used: { pods: "0" } };
  await stack.kube.replace(quotas, { ...made, status } as KubeObject, { subresource: "status" });
  return () => stack.kube.delete(quotas, ref);
};

/** A webhook that nobody serves. */
const byWebhook: Refuse = async () => {
  const name = `dead-${stack.project}`;
  await stack.kube.create(webhooks, {
    metadata: { name },
    webhooks: [
      {
        name: "dead.example.com",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": stack.namespace } },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  } as unknown as KubeObject);
  return () => stack.kube.delete(webhooks, { name });
};

const readyOf = async (
  type: typeof browserPoolKind | typeof browserKind,
  name: string,
): Promise<Condition | undefined> => {
  const object = (await stack.kube.get(type as typeof browserKind, { namespace: stack.namespace, name })) as Browser;
  return object?.status?.conditions.find((condition) => condition.type === "Ready");
};

const eventsOf = async (name: string) =>
  (
    (await stack.kube.list(events, { namespace: stack.namespace })).items as (KubeObject & {
      reason: string;
      note: string;
      regarding: { name: string };
    })[]
  ).filter(({ reason, regarding }) => reason === "FailedCreate" && regarding.name === name);

// FILL-RATE-9
describe.each<[string, Refuse, RegExp]>([
  ["a quota", byQuota, /no browser is started: exceeded quota: no-pods/],
  ["a webhook that does not answer", byWebhook, /no browser is started: .*failed calling webhook "dead\.example\.com"/],
])("pods that %s refuses", (_, refuse, why) => {
  test("callers of a pool are told why, and so are condition and Event; the pool fills when they are taken again", async () => {
    const allow = await refuse();
    try {
      const made = await stack.call("POST", "/browser_pools", { size: 2, headless: true, fill_rate_per_minute: 25 });
      const { id } = (await made.json()) as { id: string };
      const pool = poolAt(stack.call, id);
      // One waits before the operator has tried, and one asks when it knows.
      for (const _ of [1, 2]) {
        const answer = await pool.ask(3600);
        expect(answer.status).toBe(503);
        expect(answer.headers.get("retry-after")).toBe("5");
        expect(await answer.json()).toMatchObject({ code: "browser_not_started", message: expect.stringMatching(why) });
      }
      expect(await readyOf(browserPoolKind, id)).toMatchObject({
        status: "False",
        reason: "FailedCreate",
        message: expect.stringMatching(why),
      });
      const told = await eventually("an Event tells", async () => {
        const found = await eventsOf(id);
        return found.length > 0 && found;
      });
      expect(told.map(({ note }) => note)).toEqual([expect.stringMatching(why)]);
      await allow();
      // The slots of the starts that were refused are free: at its rate the pool would have waited two minutes for the
      // next.
      await eventually("a browser is up", async () => (await pool.counts()).available > 0);
      expect(await readyOf(browserPoolKind, id)).toMatchObject({ reason: expect.not.stringMatching("FailedCreate") });
    } finally {
      await allow().catch(() => undefined);
    }
  });

  test("POST /browsers is told why, and a browser by YAML says it and starts when pods are taken again", async () => {
    const allow = await refuse();
    try {
      const answer = await stack.call("POST", "/browsers", { headless: true });
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "browser_not_started", message: expect.stringMatching(why) });
      const name = "by-yaml";
      await stack.kube.create(browserKind, {
        metadata: { name, namespace: stack.namespace },
        spec: { headless: true },
      } as Browser);
      await eventually("it says why", async () => {
        const ready = await readyOf(browserKind, name);
        return ready?.reason === "FailedCreate" && why.test(ready.message);
      });
      await allow();
      await eventually("it is active", async () => (await readyOf(browserKind, name))?.status === "True");
    } finally {
      await allow().catch(() => undefined);
    }
  });
});

test("a browser in use may come back, so callers of its pool wait for it, though no other can be started", async () => {
  const pool = poolAt(
    stack.call,
    await (async () => {
      const made = await stack.call("POST", "/browser_pools", { size: 1, headless: true, fill_rate_per_minute: 6000 });
      return ((await made.json()) as { id: string }).id;
    })(),
  );
  await pool.whenCounts({ acquired: 0, available: 1 });
  const session = await pool.acquire();
  const allow = await byQuota();
  try {
    await stack.call("PATCH", `/browser_pools/${pool.id}`, { size: 2 });
    await eventually(
      "the second is refused",
      async () => (await readyOf(browserPoolKind, pool.id))?.reason === "FailedCreate",
    );
    const waiting = pool.ask(3600);
    await eventually("it waits", async () => {
      const object = await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: pool.id });
      return object?.status?.waiting === 1;
    });
    await pool.release(session);
    expect((await waiting).status).toBe(200);
  } finally {
    await allow();
  }
});
