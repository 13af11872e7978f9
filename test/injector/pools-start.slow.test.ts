/**
 * The rounds of a pool whose browsers start, with each of their calls failing in turn: whatever fails, and also when
 * the operator dies there, no browser is one too many, none is started before its time, and the rounds after it lead to
 * the same end.
 */
import { expect, test, vi } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { KubeError } from "../../src/platform/kube/kube-error.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import { faultKinds, operatorFailures, operatorRefusals, tryEveryFaultOfRounds } from "./injector.ts";
import {
  alive,
  change,
  current,
  end,
  ever,
  has,
  leases,
  make,
  poolSetting,
  quick,
  rest,
  setting,
  work,
} from "./pool-cases.ts";
import type { PoolParts } from "./pool-rounds.ts";

/** Each test prepares some dozens of pools, ms; the machine does other work too. */
vi.setConfig({ testTimeout: 180_000 });
poolSetting();

const kinds = [...faultKinds, "death"] as const;

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
        expect("error" in ended).toBe(false);
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
  await work(made, { ...setting.parts, kube: { ...kube, create } });
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
