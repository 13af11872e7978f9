import { expect, test } from "vitest";
import { namespaces, pathOf, pods, resourceOf } from "./resource-type.ts";

test.each([
  [pathOf(pods, {}), "pods"],
  [pathOf(pods, { namespace: "namespaces" }), "pods"],
  [pathOf(pods, { namespace: "a", name: "b" }, "status"), "pods/status"],
  [pathOf(namespaces, { name: "a" }), "namespaces"],
  [
    pathOf({ group: "g", version: "v1", kind: "K", plural: "ks", namespaced: false }, { name: "a" }, "scale"),
    "ks/scale",
  ],
  ["/apis/policy/v1", "discovery"],
  ["/api/v1", "discovery"],
  ["/readyz", "readyz"],
])("%s is about %s", (path, resource) => {
  expect(resourceOf(path)).toBe(resource);
});
