import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import type { Secret } from "../../../src/platform/kube/objects.ts";
import { type Reflector, startReflector } from "../../../src/platform/kube/reflector.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { kubeconfigBehindLink } from "../../support/breakable-link.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { aPool } from "../../support/observed-pool.ts";

const log = createLogger("silent", "test");
let kube: Kube;
let kubeconfigPath: string;
let namespace: string;
let changes: string[];
const started: Reflector<Secret>[] = [];

beforeAll(async () => {
  ({ kubeconfigPath } = await sharedServers());
  kube = connectKube({ kubeconfigPath });
});
afterAll(() => kube.close());
beforeEach(async () => {
  namespace = (await testNamespace(kube)).name;
  changes = [];
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((reflector) => reflector.stop()));
});

const start = (through = kube, onChange?: () => void): Reflector<Secret> => {
  const note = (object: Secret, change: string) => {
    changes.push(`${change} ${object.metadata.name}`);
    onChange?.();
  };
  const reflector = startReflector<Secret>({ kube: through, type: secrets, namespace, onChange: note, log });
  started.push(reflector);
  return reflector;
};
const create = (name: string): Promise<Secret> => kube.create(secrets, { metadata: { name, namespace } });
const label = (name: string, value: string): Promise<Secret> =>
  kube.patch(secrets, { name, namespace }, { metadata: { labels: { value } } });
const remove = (name: string): Promise<void> => kube.delete(secrets, { name, namespace });
const seen = (change: string) => eventually(change, () => changes.includes(change));

test("it reports the existing objects and every change, each once", async () => {
  await create("a");
  const reflector = start();
  await reflector.synced();
  expect(reflector.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
  await create("b");
  await label("b", "1");
  await remove("a");
  await seen("DELETED a");
  expect(changes).toEqual(["ADDED a", "ADDED b", "MODIFIED b", "DELETED a"]);
  expect(reflector.get({ namespace, name: "b" })?.metadata.labels).toEqual({ value: "1" });
});

test("a process sees its own write at once, and no older event reverts it", async () => {
  const reflector = start();
  await reflector.synced();
  const written = [await create("own"), await label("own", "1"), await label("own", "2")];
  for (const object of written.reverse()) reflector.put(object);
  expect(reflector.get({ namespace, name: "own" })?.metadata.labels).toEqual({ value: "2" });
  await create("last");
  await seen("ADDED last");
  expect(reflector.get({ namespace, name: "own" })?.metadata.labels).toEqual({ value: "2" });
});

test("an own write that was made while a list was on its way stays, though the list lacks it", async () => {
  const list: Kube["list"] = async (...asked) => {
    const listed = await kube.list(...asked);
    reflector.put(await create("own"));
    return listed as never;
  };
  const reflector = start({ ...kube, list });
  await reflector.synced();
  await create("last");
  await seen("ADDED last");
  expect(changes).toEqual(["ADDED own", "ADDED last"]);
  expect(reflector.get({ namespace, name: "own" })).toBeDefined();
});

test("the answer to an own write that comes after the object's deletion brings nothing back", async () => {
  const reflector = start();
  await reflector.synced();
  await create("a");
  const written = await label("a", "1");
  await remove("a");
  await seen("DELETED a");
  reflector.put(written);
  expect(reflector.get({ namespace, name: "a" })).toBeUndefined();
  const anew = await create("a");
  await eventually(
    "it is there anew",
    () => reflector.get({ namespace, name: "a" })?.metadata.uid === anew.metadata.uid,
  );
  reflector.put(written);
  expect(reflector.get({ namespace, name: "a" })?.metadata.uid).toBe(anew.metadata.uid);
});

test("an object that was made anew while nobody watched is reported as gone and as new", async () => {
  const reflector = start();
  await reflector.synced();
  const first = await create("a");
  await seen("ADDED a");
  changes.splice(0);
  const later = String(Number(first.metadata.resourceVersion) + 1_000_000_000);
  reflector.put({ ...first, metadata: { ...first.metadata, uid: "another", resourceVersion: later } });
  expect(changes).toEqual(["DELETED a", "ADDED a"]);
  reflector.put(first);
  expect(reflector.get({ namespace, name: "a" })?.metadata.uid).toBe("another");
});

test("it misses no change while its connections break", async () => {
  await using behind = await kubeconfigBehindLink(kubeconfigPath);
  const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 2000 });
  await create("goes");
  const reflector = start(far);
  await reflector.synced();
  for (const name of ["one", "two", "three"]) {
    behind.link.cut();
    await create(name);
    await seen(`ADDED ${name}`);
  }
  behind.link.cut();
  await remove("goes");
  await seen("DELETED goes");
  expect(changes.filter((change) => change.startsWith("ADDED"))).toHaveLength(4);
  await reflector.stop();
  await far.close();
});

test("when its version is too old it lists again, and reports the objects that have vanished since", async () => {
  const name = "vanishes";
  const pool = (poolName: string) =>
    kube.create(browserPoolKind, { ...aPool(), metadata: { name: poolName, namespace } });
  // The API server opens the storage of a custom resource at its first use, and refuses requests meanwhile.
  await eventually("a pool can be created", () => pool(name).catch(() => undefined));
  let watches = 0;
  const lists: number[] = [];
  const expiring: Kube = {
    ...kube,
    watch(type, options, signal) {
      watches++;
      // The API server keeps the history of a custom resource from the moment at which its kind was established: 1 is
      // older.
      return kube.watch(type, watches === 1 ? { ...options, resourceVersion: "1" } : options, signal);
    },
    async list(type, selection) {
      const list = await kube.list(type, selection);
      lists.push(list.items.length);
      if (lists.length === 1) await kube.delete(browserPoolKind, { name, namespace });
      return list;
    },
  };
  const onChange = (object: BrowserPool, change: string) => void changes.push(`${change} ${object.metadata.name}`);
  const reflector = startReflector<BrowserPool>({ kube: expiring, type: browserPoolKind, namespace, onChange, log });
  await seen("DELETED vanishes");
  expect(lists).toEqual([1, 0]);
  await pool("after");
  await seen("ADDED after");
  await reflector.stop();
});

test("a handler that throws does not stop it", async () => {
  // Fails by the wait for the second object.
  start(kube, () => {
    throw new Error("handler");
  });
  await create("a");
  await seen("ADDED a");
  await create("b");
  await seen("ADDED b");
});

test("a wait for the first list ends when the reflector is stopped or the wait is aborted", async () => {
  await using behind = await kubeconfigBehindLink(kubeconfigPath);
  behind.link.freeze();
  const far = connectKube({ kubeconfigPath: behind.path, requestTimeoutMs: 500 });
  const reflector = start(far);
  await expect(reflector.synced(AbortSignal.timeout(50))).rejects.toThrow();
  const waiting = expect(reflector.synced()).rejects.toThrow("stopped");
  await reflector.stop();
  await waiting;
  await far.close();
});
