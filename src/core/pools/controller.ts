/** The controllers of pools and of on-demand browsers: one loop, and what each kind does otherwise. */

import type { Lead } from "../../platform/kube/leader-election.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import { freeEndedNames } from "./ended/free-ended-names.ts";
import { type EndedLimits, keepEndedBounds } from "./ended/keep-ended-bounds.ts";
import { browserRefusal, type PoolLimits, refusalOf, roomFor } from "./observe/refusal.ts";
import { isOverAsPool, onDemandView } from "./on-demand/browser-as-pool.ts";
import { type HandOverDeps, reconcileOnDemand } from "./on-demand/reconcile-on-demand.ts";
import { type LoopParts, type PoolLoop, runPoolLoop } from "./pool-loop.ts";
import { poolView } from "./pool-source.ts";
import { reconcilePool } from "./reconcile.ts";

/** Keeps pools at their size while this replica leads. */
export const runPoolController = (
  { endedLimits, ...deps }: LoopParts & { limits: PoolLimits; endedLimits: EndedLimits },
  lead: Lead,
): Promise<void> => {
  const { acceptedSessions, features, limits, references } = deps;
  const loop: PoolLoop<BrowserPool> = {
    name: "browser-pool",
    kind: "pools",
    view: poolView,
    refusalOf: (pool, pools, acceptedSizes) =>
      refusalOf({
        pool,
        pools,
        acceptedSizes,
        limits,
        use: acceptedSessions.use(pool),
        objects: references.of(pool),
        features,
      }),
    roomOf: (pool, pools, acceptedSizes) =>
      roomFor({ pool, pools, acceptedSizes, limits, use: acceptedSessions.use(pool) }),
    isOver: () => false,
    async keepEnded(source) {
      const parts = { ...deps, source, endedLimits, check: lead.check };
      await Promise.all([keepEndedBounds(parts, lead.signal), freeEndedNames(parts, lead.signal)]);
    },
    reconcile: reconcilePool,
  };
  return runPoolLoop(loop, deps, lead);
};

/**
 * Starts and ends on-demand browsers while this replica leads. `sessionSeconds`: the longest session that the
 * installation allows. `keepsFiles`: whether it keeps what sessions leave in their folders.
 */
export const runOnDemandController = (
  { sessionSeconds, keepsFiles, ...deps }: LoopParts & Pick<HandOverDeps, "sessionSeconds" | "keepsFiles">,
  lead: Lead,
): Promise<void> => {
  const loop: PoolLoop<Browser> = {
    name: "browser",
    kind: "browsers",
    view: onDemandView,
    refusalOf: (pool, _, acceptedSizes) =>
      browserRefusal(pool, {
        acceptedSizes,
        use: deps.acceptedSessions.use(pool),
        objects: deps.references.of(pool),
        features: deps.features,
      }),
    // Its size is 1 until it is over.
    roomOf: () => ({ size: 1, limit: "SessionsLimit" }),
    isOver: isOverAsPool,
    // Each has one lease, which goes with the object. The other loop frees their names.
    keepEnded: async () => undefined,
    reconcile: (key, each) => reconcileOnDemand(key, { ...each, sessionSeconds, keepsFiles }),
  };
  return runPoolLoop(loop, deps, lead);
};
