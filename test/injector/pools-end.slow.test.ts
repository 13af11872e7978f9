/**
 * The rounds of a pool whose browsers end, with each of their calls failing in turn: whatever fails, and also when the
 * operator dies there, no browser is one too many, none is started before its time, and the rounds after it lead to the
 * same end.
 */
import { expect, test, vi } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { policyOwner, policyPartLabel } from "../../src/core/model/settings/pool-policy.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { configMaps, pods as podType } from "../../src/platform/kube/resource-type.ts";
import { faultKinds, operatorFailures, tryEveryFaultOfRounds } from "./injector.ts";
import {
  change,
  current,
  ever,
  has,
  idle,
  leases,
  poolSetting,
  quick,
  rest,
  setting,
  starting,
  take,
  work,
} from "./pool-cases.ts";

/** Each test prepares some dozens of pools, ms; the machine does other work too. */
vi.setConfig({ testTimeout: 180_000 });
poolSetting();

const kinds = [...faultKinds, "death"] as const;

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
