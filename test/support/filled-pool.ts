/** Pools of a running local mode for its tests. */
import type Kernel from "@onkernel/sdk";
import type { BrowserPool, BrowserPoolCreateParams } from "@onkernel/sdk/resources/browser-pools";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { eventually } from "./eventually.ts";

/** The fastest rate of local mode: the whole pool within a second. */
export const fastest = 6000;

/** Resolves with the pool when so many of its browsers are idle. */
export const untilAvailable = (kernel: Kernel, idOrName: string, count: number): Promise<BrowserPool> =>
  eventually(`${count} browsers of ${idOrName} are available`, async () => {
    const pool = await kernel.browserPools.retrieve(idOrName);
    return pool.available_count === count && pool;
  });

/**
 * Resolves when the operator has carried out the newest spec of a pool, and so many of its browsers are idle and have
 * that configuration.
 */
export const untilFresh = (
  { kube, namespace }: { kube: Kube; namespace: string },
  id: string,
  count: number,
): Promise<unknown> =>
  eventually(`${count} browsers of ${id} have the newest configuration`, async () => {
    const pool = await kube.get(browserPoolKind, { namespace, name: id });
    const { observedGeneration, discardedToken, available, outdated } = pool?.status ?? {};
    const isCarriedOut = observedGeneration === pool?.metadata.generation && discardedToken === pool?.spec.discardIdle;
    return isCarriedOut && available === count && outdated === 0;
  });

/** The parameters of a pool; the SDK does not know all of them yet. */
export type PoolParams = Partial<BrowserPoolCreateParams> & {
  reuse_policy?: "reset" | "keep";
  serve_on_demand?: boolean;
  max_session_seconds?: number;
  network?: object;
  memory?: "8GiB" | "16GiB";
};

/** A new pool of headless browsers, all of them up. */
export const filledPool = async (kernel: Kernel, { size = 1, ...rest }: PoolParams = {}): Promise<BrowserPool> => {
  const { id } = await kernel.browserPools.create({ headless: true, fill_rate_per_minute: fastest, size, ...rest });
  return untilAvailable(kernel, id, size);
};

/** A pool that starts no browser, so that its counts don't change. */
export const emptyPool = (kernel: Kernel, params: Partial<BrowserPoolCreateParams> = {}): Promise<BrowserPool> =>
  kernel.browserPools.create({ headless: true, fill_rate_per_minute: 0, size: 1, ...params });

/** All items of a paged list, over all its pages. */
export const collect = async <T>(pages: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
};
