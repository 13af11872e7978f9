import type { Kube } from "../../kube/client.ts";
import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";

/** Keeps a deleted pool until its browsers are gone; nothing here relies on garbage collection. */
export const drainFinalizer = "browserpool.dev/drain";

/** The pool with the finalizer; writes only when it is missing. Comes before the first pod. */
export const ensureFinalizer = async (pool: BrowserPool, kube: Kube): Promise<BrowserPool> => {
  const { finalizers = [], deletionTimestamp, resourceVersion } = pool.metadata;
  if (deletionTimestamp || finalizers.includes(drainFinalizer)) return pool;
  const metadata = { finalizers: [...finalizers, drainFinalizer], resourceVersion };
  return (await kube.patch(browserPoolKind, pool.metadata, { metadata })) as BrowserPool;
};
