import { expect, test, vi } from "vitest";
import { type RoundDeps, reconcileObject } from "../../core/reconcile/object-controller.ts";
import { itemsFinalizer } from "../../platform/kinds/kind.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import { vaultController } from "./controller.ts";

const vault = {
  metadata: {
    name: "logins",
    namespace: "a",
    uid: "v",
    deletionTimestamp: "now",
    finalizers: [itemsFinalizer],
    resourceVersion: "1",
  },
  spec: { name: "logins" },
};
const itemOf = (name: string, namespace: string, of = "logins") => ({
  metadata: { name, namespace, uid: `${namespace}-${name}` },
  spec: { vault: of },
});

/** A round for the deleted vault, where there are these items. */
const round = async (items: ReturnType<typeof itemOf>[]) => {
  const deleted = vi.fn(
    async (_kind: unknown, { namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`,
  );
  const patch = vi.fn(async () => vault);
  const kube = {
    list: async (_kind: unknown, { namespace }: { namespace?: string } = {}) => ({
      items: items.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    }),
    delete: deleted,
    patch,
  };
  const lead = { check: () => undefined, signal: new AbortController().signal } satisfies Lead;
  const caches = { of: () => ({ get: () => vault }) };
  const next = await reconcileObject(vaultController, "a/logins", {
    kube,
    lead,
    caches,
    now: Date.now,
  } as unknown as RoundDeps);
  return { next, gone: await Promise.all(deleted.mock.results.map(({ value }) => value)), patch };
};

/** Of the vault whose uid is "v". */
const key = "a/vault-key-v";

test("a vault that is deleted takes its own items and its key along: none of other vaults, and none of other projects", async () => {
  const { next, gone, patch } = await round([
    itemOf("mine", "a"),
    itemOf("theirs", "b"),
    itemOf("other", "a", "another"),
  ]);
  expect(gone).toEqual(["a/mine", key]);
  expect([next, patch.mock.calls.length]).toEqual([{ requeueAfterMs: 1000 }, 0]);
});

test("a vault without items goes, with its key", async () => {
  const { next, gone, patch } = await round([itemOf("theirs", "b")]);
  expect([next, gone, patch.mock.calls.length]).toEqual([undefined, [key], 1]);
});
