import { BrowserPoolSpec, browserPoolKind } from "../core/model/pools/browser-pool.ts";
import type { Kube } from "../platform/kube/client.ts";

const name = "demo";

/** The spec of the pool that newcomers find, as that of manifests/samples/pool.yaml (a test compares them). */
export const demoSpec = { size: 2, fillRatePerMinute: 6000, headless: true };

/** Makes the pool `demo` where there is no pool at all, and returns its name then. */
export const makeDemoPool = async (kube: Kube, namespace: string): Promise<string | undefined> => {
  if ((await kube.list(browserPoolKind, { limit: 1 })).items.length > 0) return undefined;
  await kube.create(browserPoolKind, { metadata: { name, namespace }, spec: BrowserPoolSpec.parse(demoSpec) });
  return name;
};
