/**
 * Says in the status of each SiteConfig whether it is in force, and what it recommends.
 *
 *   an object changes ──► it and all with its scope and target are worked on: of these the oldest is in force
 */
import { isDeepStrictEqual } from "node:util";
import { createSpecPredicate } from "../../../core/reconcile/predicates.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { byAge } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type Lead, whenLeadEnds } from "../../../platform/kube/leader-election.ts";
import { type Reflector, startReflector } from "../../../platform/kube/reflector.ts";
import { startWorkQueue, type WorkMeter } from "../../../platform/kube/work-queue.ts";
import type { EligibleRules } from "../rules/recommend.ts";
import { type SiteConfig, siteConfigKind } from "./site-config.ts";
import { siteConfigStatus } from "./status.ts";

type ReconcileSiteConfigDeps = {
  kube: Pick<Kube, "replace">;
  configs: Pick<Reflector<SiteConfig>, "get" | "put">;
  /** The names of all objects with the scope and target of this one. */
  rivalsOf(config: SiteConfig): Iterable<string>;
  rules: EligibleRules;
  lead: Pick<Lead, "check">;
};

/** One round for one SiteConfig. Safe to repeat at any point. */
export const reconcileSiteConfig = async (
  name: string,
  { kube, configs, rivalsOf, rules, lead }: ReconcileSiteConfigDeps,
): Promise<undefined> => {
  const config = configs.get({ name });
  if (!config || config.metadata.deletionTimestamp) return;
  const rivals = [...rivalsOf(config)].flatMap((rival) => configs.get({ name: rival }) ?? []);
  const holder = rivals.filter(({ metadata }) => !metadata.deletionTimestamp).sort(byAge)[0] ?? config;
  const status = siteConfigStatus(config, { holder, rules, nowMs: Date.now() });
  if (isDeepStrictEqual(config.status, status)) return;
  lead.check();
  configs.put(await kube.replace(siteConfigKind, { ...config, status }, { subresource: "status" }));
};

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
