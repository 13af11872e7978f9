import { expect, test } from "vitest";
import { isTransient, KubeError } from "./kube-error.ts";
import { storedObject } from "./objects.ts";
import { nodes, pods } from "./resource-type.ts";

const metadata = { name: "p", namespace: "n", uid: "u", resourceVersion: "1" };

test("an object comes in as it is", () => {
  const pod = { metadata, spec: { containers: [] } };
  expect(storedObject(pods, pod)).toBe(pod);
  const { namespace: _, ...clusterScoped } = metadata;
  expect(storedObject(nodes, { metadata: clusterScoped })).toEqual({ metadata: clusterScoped });
});

test.each([
  [{ ...metadata, uid: "" }, "a Pod p (v1) without metadata.uid"],
  [{ ...metadata, uid: undefined, resourceVersion: 7 }, "a Pod p (v1) without metadata.uid, metadata.resourceVersion"],
  [{ ...metadata, namespace: undefined }, "a Pod p (v1) without metadata.namespace"],
  [{ ...metadata, name: undefined }, "a Pod (v1) without metadata.name"],
  [undefined, "a Pod (v1) without metadata.name, metadata.uid, metadata.resourceVersion, metadata.namespace"],
])("with the metadata %j it is refused, and what is missing is named", (given, message) => {
  expect(() => storedObject(pods, { metadata: given })).toThrow(message);
});

test.each([undefined, null, "text", []])("%j is no object", (value) => {
  expect(() => storedObject(pods, value)).toThrow(KubeError);
});

test("to ask again would not help", () => {
  const refuse = (): unknown => storedObject(pods, {});
  expect(refuse).toThrow(expect.objectContaining({ reason: "Malformed" }));
  expect(refuse).toThrow(expect.toSatisfy((error) => !isTransient(error)));
});
