/** Finalizers at a real API server, where others write to the same object. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { dropFinalizer, withFinalizer } from "../../../src/core/reconcile/finalizers.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { configMaps } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";

const ours = "browserpool.dev/ours";
const theirs = "example.com/theirs";

let kube: Kube;
let namespace: string;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
});
afterAll(() => kube?.close());

const make = (finalizers: string[]) => kube.create(configMaps, { metadata: { name: newId(), namespace, finalizers } });
const current = async (name: string) => (await kube.get(configMaps, { namespace, name }))?.metadata.finalizers ?? [];
const addTheirs = (object: { metadata: { name: string; finalizers?: string[] | undefined } }) =>
  kube.patch(
    configMaps,
    { namespace, name: object.metadata.name },
    { metadata: { finalizers: [...(object.metadata.finalizers ?? []), theirs] } },
  );

test("a finalizer that somebody has added since the object was read stays: ours neither comes nor goes then", async () => {
  for (const [change, had] of [
    [withFinalizer, []],
    [dropFinalizer, [ours]],
  ] as const) {
    const object = await make([...had]);
    const { name } = object.metadata;
    const newer = await addTheirs(object);
    await expect(change(configMaps, { object, finalizer: ours }, kube)).rejects.toMatchObject({ reason: "Conflict" });
    expect(await current(name)).toEqual([...had, theirs]);
    await change(configMaps, { object: newer, finalizer: ours }, kube);
    expect((await current(name)).toSorted()).toEqual(change === withFinalizer ? [ours, theirs] : [theirs]);
    await kube.patch(configMaps, { namespace, name }, { metadata: { finalizers: null } });
  }
});

test("an object that has it, or is being deleted, gets none", async () => {
  const object = await make([ours]);
  const { name } = object.metadata;
  expect(await withFinalizer(configMaps, { object, finalizer: ours }, kube)).toBe(object);
  await kube.delete(configMaps, { namespace, name });
  const going = await kube.get(configMaps, { namespace, name });
  if (!going) throw new Error("it is gone");
  expect(await withFinalizer(configMaps, { object: going, finalizer: theirs }, kube)).toBe(going);
  await dropFinalizer(configMaps, { object: going, finalizer: ours }, kube);
  expect(await kube.get(configMaps, { namespace, name })).toBeUndefined();
});
