import { expect, test, vi } from "vitest";
import { KubeError } from "../../platform/kube/kube-error.ts";
import type { Node, Pod } from "../../platform/kube/objects.ts";
import { createBinder } from "./binder.ts";

const podOf = (uid: string, nodeName?: string): Pod =>
  ({
    metadata: { name: uid, namespace: "a", uid },
    spec: { containers: [], ...(nodeName && { nodeName }) },
  }) as unknown as Pod;

/** A node for two pods; `shown`: what its watch shows. */
const nodeWith = (...shown: Pod[]) => {
  const createSubresource = vi.fn(async (..._asked: unknown[]) => undefined);
  const binder = createBinder({
    kube: { createSubresource } as never,
    nodeName: "here",
    maxPods: 2,
    listPods: () => shown,
    node: () => ({ metadata: { name: "here" }, spec: {} }) as Node,
  });
  return { binder, createSubresource, shown };
};

test("a pod whose binding has failed is bound by the next try, and until then takes no place", async () => {
  const pod = podOf("new");
  const { binder, createSubresource } = nodeWith(pod, podOf("old", "here"));
  createSubresource.mockRejectedValueOnce(new KubeError("Unreachable", 0, "no answer"));
  await expect(binder.bind(pod)).rejects.toThrow("no answer");
  expect(await binder.bind(pod)).toBeUndefined();
  expect(createSubresource).toHaveBeenCalledTimes(2);
});

test("a pod is bound once, and counts from then on, though the watch shows it later", async () => {
  const [one, two] = [podOf("one"), podOf("two")];
  const { binder, createSubresource, shown } = nodeWith(one, two, podOf("old", "here"));
  expect(await binder.bind(one)).toBeUndefined();
  expect(await binder.bind(one)).toBeUndefined();
  expect(await binder.bind(two)).toBe("Too many pods");
  expect(createSubresource).toHaveBeenCalledTimes(1);
  shown.pop();
  expect(await binder.bind(two)).toBeUndefined();
});

test.each(["Conflict", "NotFound"])(
  "a pod that another node got, or that is gone (%s), is no failure, and takes no place",
  async (reason) => {
    const [lost, next] = [podOf("lost"), podOf("next")];
    const { binder, createSubresource } = nodeWith(lost, next, podOf("old", "here"));
    createSubresource.mockRejectedValueOnce(new KubeError(reason, 409, "no"));
    expect(await binder.bind(lost)).toBeUndefined();
    expect(await binder.bind(next)).toBeUndefined();
  },
);
