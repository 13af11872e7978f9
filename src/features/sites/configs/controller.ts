/**
 * Says in the status of each SiteConfig whether it is in force, and what it recommends.
 *
 *   an object changes ──► it and all with its scope and target are worked on: of these the oldest is in force
 */

import { createSpecPredicate } from "../../../core/reconcile/predicates.ts";
import { whenLeadEnds } from "../../../core/reconcile/when-lead-ends.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import { startWorkQueue, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import type { EligibleRules } from "../rules/recommend.ts";
import { reconcileSiteConfig } from "./reconcile.ts";
import { type SiteConfig, siteConfigKind } from "./site-config.ts";

const concurrency = 4;

type SiteConfigControllerDeps = {
  kube: Kube;
  rules: EligibleRules;
  meter?: WorkMeter | undefined;
  log: Logger;
};

const claimOf = ({ spec }: SiteConfig): string => `${spec.scope} ${spec.target}`;

/** Resolves when this replica no longer leads and the queue and the watch have stopped. */
export const runSiteConfigController = async (
  { kube, rules, meter, log }: SiteConfigControllerDeps,
  lead: Lead,
): Promise<void> => {
  const predicate = createSpecPredicate();
  /** The names of the objects with one scope and target. */
  const claims = new Map<string, Set<string>>();
  const configs = startReflector({
    kube,
    type: siteConfigKind,
    log,
    onChange(config, change) {
      const { name } = config.metadata;
      const claim = claimOf(config);
      const rivals = claims.get(claim) ?? new Set();
      if (change === "DELETED") {
        predicate.forget(config);
        rivals.delete(name);
      } else {
        if (!predicate.specChanged(config)) return;
        rivals.add(name);
      }
      if (rivals.size > 0) claims.set(claim, rivals);
      else claims.delete(claim);
      for (const rival of rivals) queue.add(rival);
    },
  });
  const queue = startWorkQueue({
    name: "site-configs",
    concurrency,
    log,
    meter,
    async work(name) {
      await configs.synced(lead.signal);
      return reconcileSiteConfig(name, {
        kube,
        configs,
        rivalsOf: (config) => claims.get(claimOf(config)) ?? [],
        rules,
        lead,
      });
    },
  });
  await whenLeadEnds(lead);
  await queue.stop();
  await configs.stop();
};
