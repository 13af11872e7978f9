/**
 * The rounds of a pool, with each of their calls failing in turn: whatever fails, and also when the operator dies there, no browser is one too
 * many, none is started before its time, and the rounds after it lead to the same end.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { poolView } from "../../src/controllers/browser-pool/pool-source.ts";
import { reconcilePool } from "../../src/controllers/browser-pool/reconcile.ts";
import type { Kube } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/kube-error.ts";
import { keyOf, type Pod } from "../../src/kube/objects.ts";
import { configMaps, pods as podType } from "../../src/kube/resource-type.ts";
import { type BrowserPool, browserPoolKind } from "../../src/resources/browser-pool.ts";
import { policyOwner, policyPartLabel } from "../../src/resources/pool-policy.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { agentKeys, startSmallAgent } from "../support/lease-parts.ts";
import { faultKinds, operatorFailures, operatorRefusals, tryEveryFaultOfRounds } from "./injector.ts";
import {
  becomeReady,
  type PoolParts,
  type PoolSetting,
  podsAndKeys,
  registerIdle,
  startPoolSetting,
} from "./pool-rounds.ts";
import { untilRest } from "./rounds.ts";

/** Each test prepares some dozens of pools, ms; the machine does other work too. */
vi.setConfig({ testTimeout: 180_000 });

const kinds = [...faultKinds, "death"] as const;

let setting: PoolSetting<BrowserPool>;
beforeAll(async () => {
  setting = await startPoolSetting({ view: poolView, reconcile: reconcilePool });
});
afterAll(() => setting?.[Symbol.asyncDispose]());

let agents = new AsyncDisposableStack();
afterEach(async () => {
  await agents.disposeAsync();
  agents = new AsyncDisposableStack();
});

/** Two browsers, the second one two minutes after the first. */
const slow = { size: 2, fillRatePerMinute: 25, headless: true };
const quick = { fillRatePerMinute: 6000 };

type Made = { pool: BrowserPool };

const make = async (spec: object = slow): Promise<Made> => {
  const metadata = { name: newId(), namespace: setting.namespace };
  const pool = await setting.kube.create(browserPoolKind, { metadata, spec: spec as BrowserPool["spec"] });
  await setting.version(pool);
  return { pool };
};

const rounds = ({ pool }: Made, parts?: PoolParts) => ({
  round: () => setting.replica().round(keyOf(pool.metadata), parts),
  version: () => setting.version(pool),
  restMs: 30_000,
  pass: (ms: number) => setting.replica().pass(ms),
});

/** So many rounds; the first that fails ends them. */
const work = async (made: Made, parts: PoolParts, count = 1): Promise<void> => {
  const { round, version } = rounds(made, parts);
  for (let done = 0; done < count; done++) {
    await version();
    await round();
  }
};

/** Rounds without faults until the pool rests. A dead operator has a successor. */
const rest = async (made: Made, kind?: string): Promise<void> => {
  if (kind === "death") await setting.replace();
  await untilRest(rounds(made), { before: "", ended: { result: undefined } });
};

const current = ({ pool }: Made) => setting.kube.get(browserPoolKind, pool.metadata);
const change = async (made: Made, spec: object): Promise<void> => {
  await setting.kube.patch(browserPoolKind, made.pool.metadata, { spec });
  await setting.version(made.pool);
};
const ever = ({ pool }: Made): Pod[] =>
  setting.pods.ever().filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === pool.metadata.uid));
const leases = ({ pool }: Made) => setting.parts.store.snapshot(pool.metadata.uid);
const alive = async (made: Made): Promise<Pod[]> =>
  (await setting.kube.list(podType, { namespace: setting.namespace })).items.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === made.pool.metadata.uid),
  );

/** So many browsers, each with its key, of so many that there ever were; nothing is awaited any more. */
const has = async (made: Made, count: number, everCount = count): Promise<void> => {
  const { pods, keys } = await podsAndKeys(setting, made.pool.metadata.uid);
  expect([pods.length, ever(made).length, setting.replica().pending(made.pool.metadata.uid)]).toEqual([
    count,
    everCount,
    0,
  ]);
  expect(keys).toEqual(pods);
};

/** A pool whose browsers start; from now on it fills slowly. */
const starting = async (size = 2): Promise<Made> => {
  const made = await make({ ...slow, ...quick, size });
  await rest(made);
  expect(ever(made)).toHaveLength(size);
  await change(made, { fillRatePerMinute: slow.fillRatePerMinute });
  return made;
};

/** A pool whose only browser is idle. */
const idle = async (): Promise<Made> => {
  const made = await starting(1);
  for (const pod of await alive(made)) {
    const agent = agents.use(await startSmallAgent("ok", agentKeys.keyOf(pod.metadata.name)));
    await registerIdle(setting, pod, agent.address);
    await becomeReady(setting.kube, pod);
  }
  await rest(made);
  expect((await current(made))?.status).toMatchObject({ available: 1, starting: 0 });
  return made;
};

/** The browser's process ends with these words. */
const end = (pod: Pod, said: { reason: string; message: string }): Promise<Pod> => {
  const terminated = { exitCode: 1, message: JSON.stringify(said) };
  const containerStatuses = [
    { name: "agent", state: { terminated }, image: "x", imageID: "", ready: false, restartCount: 0 },
  ];
  return setting.kube.patch(
    podType,
    pod.metadata,
    { status: { phase: "Failed", containerStatuses } },
    { subresource: "status" },
  );
};

test("a pool gets its finalizer, its epoch and its first browser, and the second one not before its time", async () => {
  const calls = await tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: ["refused", "lost", "death"],
    prepare: () => make(),
    work: (made, parts) => work(made, parts, 2),
    async check(made, _, { kind }) {
      await rest(made, kind);
      expect(ever(made).length).toBeLessThan(2);
      const { epoch } = await leases(made);
      expect((await current(made))?.status).toMatchObject({ leaseEpoch: epoch, starting: ever(made).length });
      await change(made, quick);
      await rest(made);
      await has(made, 2);
      expect((await current(made))?.status).toMatchObject({ starting: 2, failedStarts: 0 });
    },
  });
  expect(calls).toContain("kube.create");
});

test("where the API server refuses a browser for good, its pool awaits none, and its owner is told", async () => {
  await tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorRefusals,
    kinds: ["refused"],
    prepare: async () => {
      setting.told.length = 0;
      return make();
    },
    work: (made, parts) => work(made, parts, 2),
    async check(made, ended, { name }) {
      if (name === "kube.create") {
        expect("error" in ended).toBe(true);
        expect(setting.told).toContain("FailedCreate: no browser is started: by a fault of the test");
        expect(setting.replica().pending(made.pool.metadata.uid)).toBe(0);
      }
      await change(made, quick);
      await rest(made);
      await has(made, 2);
    },
  });
});

test("a browser that comes while a round is under way keeps its key", async () => {
  const { kube, store } = setting.parts;
  const made = await make();
  await work(made, setting.parts);
  let come: () => Promise<unknown> = async () => undefined;
  const create: Kube["create"] = async (type, object) => {
    if (type.plural !== podType.plural) return kube.create(type, object);
    come = () => kube.create(type, object);
    throw new KubeError("Unreachable", 0, "no answer yet");
  };
  await expect(work(made, { ...setting.parts, kube: { ...kube, create } })).rejects.toThrow("no answer yet");
  await change(made, { discardIdle: newId() });
  const retire: PoolParts["store"]["retire"] = async (...args) => {
    await come();
    await setting.version(made.pool);
    return store.retire(...args);
  };
  await work(made, { ...setting.parts, store: { ...store, retire } });
  await rest(made);
  await has(made, 1);
});

test("surplus browsers go, with their keys, and no other does", () =>
  tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds,
    async prepare() {
      const made = await starting();
      await change(made, { size: 1 });
      return made;
    },
    work: (made, parts) => work(made, parts, 2),
    async check(made, _, { kind }) {
      await rest(made, kind);
      await has(made, 1, 2);
      expect((await current(made))?.status).toMatchObject({ starting: 1, failedStarts: 0 });
    },
  }).then((calls) => expect(calls).toContain("kube.delete")));

test("browsers that are discarded are rebuilt once", () =>
  tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: ["lost", "death"],
    async prepare() {
      const made = await idle();
      await change(made, { discardIdle: newId() });
      return made;
    },
    work: (made, parts) => work(made, parts, 3),
    async check(made, _, { kind }) {
      await rest(made, kind);
      expect(ever(made).length).toBeLessThan(3);
      await change(made, quick);
      await rest(made);
      await has(made, 1, 2);
      expect(await leases(made)).toMatchObject({ browsers: [], unpaced: 0 });
    },
  }).then((calls) => expect(calls).toContain("store.spendUnpaced")));

test("a start that failed is told, counted once, and tried again no sooner than it may", () =>
  tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds,
    async prepare() {
      const made = await make();
      await rest(made);
      const [pod] = await alive(made);
      if (!pod) throw new Error("there is no browser");
      await end(pod, { reason: "start_failed", message: "no libraries" });
      setting.told.length = 0;
      return made;
    },
    work: (made, parts) => work(made, parts),
    async check(made, _, { kind }) {
      await rest(made, kind);
      await has(made, 0, 1);
      expect(setting.told.join()).toContain("FailedStart: ");
      expect((await current(made))?.status?.failedStarts).toBeLessThan(2);
    },
  }).then((calls) => expect(calls).toContain("kube.delete")));

/** A session of the pool; the name of the browser's pod. */
const take = async (made: Made): Promise<{ session: string; pod: string }> => {
  const session = newId();
  const { uid, name } = made.pool.metadata;
  const request = { project: setting.projectId, name: session, timeout_seconds: 60, pool: { id: name, uid } };
  await setting.parts.names.reserve(setting.projectId, session, { poolUid: uid, session });
  const taken = await setting.parts.store.take(uid, { session, channel: "none", request: JSON.stringify(request) });
  if (taken.kind !== "granted") throw new Error(`the session is ${taken.kind}`);
  return { session, pod: taken.lease.pod };
};

test("a session ends with its browser, and its name is free", () =>
  tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: ["refused", "lost", "death"],
    async prepare() {
      const made = await idle();
      const { session, pod: name } = await take(made);
      await setting.kube.delete(podType, { namespace: setting.namespace, name }, { gracePeriodSeconds: 0 });
      await setting.version(made.pool);
      return { ...made, session };
    },
    work: (made, parts) => work(made, parts),
    async check(made, _, { kind, name }) {
      await rest(made, kind);
      // The start that is due may be lost; none comes before its time.
      expect(ever(made).length).toBeLessThan(3);
      const { uid } = made.pool.metadata;
      expect(await setting.parts.store.endedLease(uid, made.session)).toMatchObject({ reason: "browser_lost" });
      expect((await current(made))?.status).toMatchObject({ available: 0, acquired: 0 });
      // The sweep of names does what the round can't know of any more.
      const isLeft = (name === "store.close" && kind === "lost") || (name === "names.free" && kind !== "lost");
      expect((await setting.parts.names.find(setting.projectId, made.session)) !== undefined).toBe(isLeft);
    },
  }).then((calls) => expect(calls).toContain("names.free")));

test("a pool whose deletion is forced leaves nothing behind", () =>
  tryEveryFaultOfRounds({
    parts: setting.parts,
    failures: operatorFailures,
    kinds: ["refused", "lost", "death"],
    async prepare() {
      const made = await idle();
      await take(made);
      const { name, namespace } = made.pool.metadata;
      const labels = { [policyPartLabel]: policyOwner(name) };
      await setting.kube.create(configMaps, { metadata: { name: `${name}.policy-1`, namespace, labels } });
      const annotations = { "browserpool.dev/force-delete": "true" };
      await setting.kube.patch(browserPoolKind, made.pool.metadata, { metadata: { annotations } });
      await setting.kube.delete(browserPoolKind, made.pool.metadata);
      await setting.version(made.pool);
      return made;
    },
    work: (made, parts) => work(made, parts, 2),
    async check(made, _, { kind }) {
      await rest(made, kind);
      const { name, namespace, uid } = made.pool.metadata;
      expect(await current(made)).toBeUndefined();
      await has(made, 0, 1);
      const labelSelector = `${policyPartLabel}=${policyOwner(name)}`;
      expect((await setting.kube.list(configMaps, { namespace, labelSelector })).items).toEqual([]);
      expect(await setting.lease.redis.keys(`*${uid}*`)).toEqual([]);
    },
  }).then((calls) => expect(calls).toContain("store.drop")));
