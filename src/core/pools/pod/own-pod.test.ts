import { expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import type { OwnerReference, Pod } from "../../../platform/kube/objects.ts";
import { ownerUidOf, whyForeign } from "./own-pod.ts";
import { buildPod } from "./pod.ts";

const owner = { ...aPool(), apiVersion: "browserpool.dev/v1alpha1", kind: "BrowserPool" };
const settings = { image: "browser:1", agentPublicKey: "key", template: undefined };
const { metadata } = buildPod(owner, { suffix: "abcdefgh" }, settings);
const own: Pick<Pod, "metadata"> = { metadata: { ...metadata, namespace: "project", uid: "p", resourceVersion: "1" } };
const [reference] = metadata.ownerReferences ?? [];

const withReference = (change: Partial<OwnerReference>): Pick<Pod, "metadata"> => ({
  metadata: { ...own.metadata, ownerReferences: [{ ...(reference as OwnerReference), ...change }] },
});
const withMetadata = (change: Partial<Pod["metadata"]>): Pick<Pod, "metadata"> => ({
  metadata: { ...own.metadata, ...change },
});

// POD-1
test("a pod that the operator builds is its owner's own", () => {
  expect(whyForeign(own, owner)).toBeUndefined();
  expect(ownerUidOf(own, owner)).toBe(owner.metadata.uid);
});

// POD-1
test.each<[string, Pick<Pod, "metadata">]>([
  ["of another namespace", withMetadata({ namespace: "other" })],
  ["without an owner reference", withMetadata({ ownerReferences: [] })],
  ["with another uid", withReference({ uid: "another" })],
  ["whose owner is not its controller", withReference({ controller: false })],
  ["of another kind of owner", withReference({ kind: "Browser" })],
  ["of another group", withReference({ apiVersion: "apps/v1" })],
  ["without the label", withMetadata({ labels: {} })],
  ["with the label of another pool", withMetadata({ labels: { "browserpool.dev/pool": "another" } })],
])("a pod %s is foreign, and the reason names what is wrong", (_, pod) => {
  expect(whyForeign(pod, owner)).toMatch(/namespace project|controller is not the BrowserPool pool/);
});
