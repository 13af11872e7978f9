import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { KubeError } from "../../../src/platform/kube/kube-error.ts";
import type { NewObject, Secret } from "../../../src/platform/kube/objects.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { kubeconfigBehindLink } from "../../support/breakable-link.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";

let kube: Kube;
let namespace: string;
let kubeconfigPath: string;

beforeAll(async () => {
  ({ kubeconfigPath } = await sharedServers());
  kube = connectKube({ kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
});
afterAll(() => kube.close());

const aSecret = (name: string, labels: Record<string, string> = {}): NewObject<Secret> => ({
  metadata: { name, namespace, labels },
});
const refused = (reason: string) => expect.objectContaining({ name: "KubeError", reason });

describe("an object", () => {
  test("that does not exist is undefined, and deleting it succeeds", async () => {
    expect(await kube.get(secrets, { namespace, name: "none" })).toBeUndefined();
    await kube.delete(secrets, { namespace, name: "none" });
  });

  test("is created only once", async () => {
    await kube.create(secrets, aSecret("once"));
    await expect(kube.create(secrets, aSecret("once"))).rejects.toEqual(refused("AlreadyExists"));
  });

  test("is written only over its newest version", async () => {
    const old = await kube.create(secrets, aSecret("versions"));
    const { resourceVersion } = old.metadata;
    await kube.patch(secrets, old.metadata, { metadata: { labels: { by: "me" }, resourceVersion } });
    await expect(kube.replace(secrets, old)).rejects.toEqual(refused("Conflict"));
    const late = kube.patch(secrets, old.metadata, { metadata: { labels: { by: "you" }, resourceVersion } });
    await expect(late).rejects.toEqual(refused("Conflict"));
    expect((await kube.get(secrets, old.metadata))?.metadata.labels).toEqual({ by: "me" });
  });

  test("is deleted by uid only when the uid matches", async () => {
    const { metadata } = await kube.create(secrets, aSecret("recreated"));
    await kube.delete(secrets, metadata, { uid: "another" });
    expect(await kube.get(secrets, metadata)).toBeDefined();
    await kube.delete(secrets, metadata, { uid: metadata.uid });
    expect(await kube.get(secrets, metadata)).toBeUndefined();
  });

  test("is applied over fields that another owner has set", async () => {
    await kube.apply(secrets, aSecret("applied", { v: "1" }), { fieldManager: "one" });
    await kube.apply(secrets, aSecret("applied", { v: "2" }), { fieldManager: "two" });
    expect((await kube.get(secrets, aSecret("applied").metadata))?.metadata.labels).toEqual({ v: "2" });
  });

  test("that is invalid is refused with the field", async () => {
    await expect(kube.create(secrets, aSecret("Bad_Name"))).rejects.toEqual(
      expect.objectContaining({ reason: "Invalid", status: 422, message: expect.stringContaining("metadata.name") }),
    );
  });
});

test("a list of more than a page has every object once, by as many calls as it has pages", async () => {
  const calls: string[] = [];
  const counted = connectKube({
    kubeconfigPath,
    onCall: ({ method, resource }) => calls.push(`${method} ${resource}`),
  });
  try {
    const names = Array.from({ length: 1003 }, (_, n) => `page-${String(n).padStart(4, "0")}`);
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(
        names.slice(from, from + 50).map((name) => kube.create(secrets, aSecret(name, { kind: "page" }))),
      );
    const selection = { namespace, labelSelector: "kind=page" };
    const { items, resourceVersion } = await counted.list(secrets, selection);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(calls).toEqual(Array.from({ length: 3 }, () => "GET secrets"));
    expect(Number(resourceVersion)).toBeGreaterThan(0);
    const some = await counted.list(secrets, { ...selection, limit: 502 });
    expect(some.items.map(({ metadata }) => metadata.name)).toEqual(names.slice(0, 502));
  } finally {
    await counted.close();
    await kube.deleteAll(secrets, { namespace, labelSelector: "kind=page" });
  }
});

test("a list filters by namespace and labels, and a watch continues from it", async () => {
  await kube.create(secrets, aSecret("listed", { kind: "listed" }));
  const { items, resourceVersion } = await kube.list(secrets, { namespace, labelSelector: "kind=listed" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["listed"]);
  const stop = new AbortController();
  const events: string[] = [];
  await kube.create(secrets, aSecret("other"));
  await kube.create(secrets, aSecret("later", { kind: "listed" }));
  await kube.delete(secrets, aSecret("later").metadata);
  for await (const { type, object } of kube.watch(
    secrets,
    { namespace, labelSelector: "kind=listed", resourceVersion },
    stop.signal,
  )) {
    if (type !== "BOOKMARK") events.push(`${type} ${object.metadata.name}`);
    if (type === "DELETED") break;
  }
  expect(events).toEqual(["ADDED later", "DELETED later"]);
});

test("a watch from a version that is too old ends with Expired", async () => {
  const watching = async (): Promise<void> => {
    // The API server keeps the history of a custom resource from the moment at which its kind was established.
    const stream = kube.watch(browserPoolKind, { namespace, resourceVersion: "1" }, AbortSignal.timeout(5000));
    for await (const _ of stream) return;
  };
  await expect(watching()).rejects.toEqual(refused("Expired"));
});

describe("when the API server does not answer", () => {
  test("every call ends at its deadline, as unreachable and transient", async () => {
    await using behind = await kubeconfigBehindLink(kubeconfigPath);
    const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 300 });
    expect(await far.ready()).toBe(true);
    behind.link.freeze();
    const unreachable = { reason: "Unreachable", status: 0 };
    const calls = [
      far.get(secrets, { namespace, name: "x" }),
      far.list(secrets, { namespace }),
      far.create(secrets, aSecret("x")),
      far.patch(secrets, { namespace, name: "x" }, {}),
      far.delete(secrets, { namespace, name: "x" }),
    ];
    const beganMs = performance.now();
    const answers = await Promise.allSettled(calls);
    // Without this limit it is 10 s.
    expect(performance.now() - beganMs).toBeLessThan(8000);
    for (const answer of answers) expect(answer).toMatchObject({ status: "rejected", reason: unreachable });
    expect(await far.ready()).toBe(false);
    behind.link.thaw();
    expect(await far.ready()).toBe(true);
    await far.close();
  });

  test("a call that is still connecting ends at its deadline too", async () => {
    await using behind = await kubeconfigBehindLink(kubeconfigPath);
    behind.link.freeze();
    const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 300 });
    const call = far.get(secrets, { namespace, name: "x" }).catch((error: unknown) => error);
    // undici's own deadline for connecting is ten seconds.
    expect(await Promise.race([call, sleep(5000, "not ended")])).toMatchObject({ reason: "Unreachable", status: 0 });
    await far.close();
  });

  test("the error names the call and nothing that was sent", async () => {
    await using behind = await kubeconfigBehindLink(kubeconfigPath);
    behind.link.close();
    const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 300 });
    const secret = { ...aSecret("kept"), stringData: { password: "hunter2" } };
    const error = await far.create(secrets, secret).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeError);
    expect((error as KubeError).message).toContain(`POST /api/v1/namespaces/${namespace}/secrets`);
    expect(JSON.stringify([error, (error as KubeError).message, (error as KubeError).stack])).not.toContain("hunter2");
    await far.close();
  });
});
