/** What a run of hand-overs works with. */

import { type LeaseView, viewLeases } from "../../support/lease-view.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { fullPool, type PoolClient } from "../../support/pool-client.ts";
import { type Site, startSite } from "./site.ts";

export type Parts = {
  stack: LocalStack;
  pool: PoolClient;
  leases: LeaseView;
  site: Site;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Local mode as a user runs it with one full pool of headless Chromium, and a site on loopback. */
export const startParts = async (size: number): Promise<Parts> => {
  await using starting = new AsyncDisposableStack();
  const site = starting.use(await startSite());
  const stack = starting.use(await startLocalStack());
  const leases = starting.adopt(await viewLeases(stack.redis_url, stack.kube), (view) => view.close());
  const pool = await fullPool(stack.call, size);
  const kept = starting.move();
  return { stack, pool, leases, site, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
