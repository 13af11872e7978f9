import { expect, test } from "vitest";
import type { Kube } from "../../platform/kube/client.ts";
import { browserPoolKind } from "../model/pools/browser-pool.ts";
import { deletePolicyParts } from "./delete-policy-parts.ts";

const ofUid = (uid: string) => ({ metadata: { name: "shop", namespace: "a", uid } }) as never;

/** What is deleted for the object with this uid, where the pool of its name has another one, or is gone. */
const deletedFor = async (uid: string, present: string | undefined): Promise<string[]> => {
  const deleted: string[] = [];
  const kube = {
    get: async (kind: unknown) => (kind === browserPoolKind && present !== undefined ? ofUid(present) : undefined),
    list: async () => ({ items: [{ metadata: { name: "shop.policy-1", namespace: "a", uid: "part" } }] }),
    delete: async (_kind: unknown, { name }: { name: string }) => void deleted.push(name),
  };
  await deletePolicyParts(ofUid(uid), kube as unknown as Kube);
  return deleted;
};

test("a pool takes its policies along, and nobody those of a pool that has the same name", async () => {
  expect(await deletedFor("pool", "pool")).toEqual(["shop.policy-1"]);
  expect(await deletedFor("an on-demand browser", "pool")).toEqual([]);
  expect(await deletedFor("pool", undefined)).toEqual([]);
});
