import { expect, test } from "vitest";
import { createLogger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { resizableTemplate } from "./resizable-template.ts";

/** API servers of today all resize pods, so an older one is made up. */
const serverWith = (...names: string[]): Pick<Kube, "resources"> => ({
  resources: async () => names.map((name) => ({ name, kind: "Pod", namespaced: true })),
});
const log = createLogger("silent", "test");
const template = { idleCpu: "50m", spec: { nodeSelector: { pool: "browsers" } } };

test("where the API server resizes no pods, idle browsers ask for as much as those in use", async () => {
  expect(await resizableTemplate(template, { kube: serverWith("pods", "pods/status"), log })).toEqual({
    spec: template.spec,
  });
  expect(await resizableTemplate(template, { kube: serverWith("pods", "pods/resize"), log })).toEqual(template);
});

test("the API server is not asked where nothing is to be resized", async () => {
  const kube = {
    resources: () => Promise.reject(new Error("is not asked")),
  };
  expect(await resizableTemplate({ spec: template.spec }, { kube, log })).toEqual({ spec: template.spec });
  expect(await resizableTemplate(undefined, { kube, log })).toBeUndefined();
});
