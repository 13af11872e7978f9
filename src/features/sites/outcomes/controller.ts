/** Adds to the config registry's evidence what sessions report, while this replica leads. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import type { RedisConnection } from "../../../platform/redis/connection.ts";
import { type SiteConfig, siteConfigKind } from "../configs/site-config.ts";
import { createEvidenceStore } from "../evidence-store.ts";
import { siteKey } from "../pack-sites.ts";
import { recipeKey } from "../rules/site.ts";
import { followSiteReports } from "../site-reports.ts";
import { type CollectDeps, createCollector, type IsGiven } from "./collect.ts";

/** Between two writes of what has come, ms. */
const flushEveryMs = 10_000;

type SessionOutcomesDeps = Pick<CollectDeps, "origin" | "reported"> & {
  kube: Kube;
  subscriber: RedisConnection;
  log: Logger;
};

const namesOf = ({ metadata, spec: { scope, target, configurations } }: SiteConfig): string[] =>
  metadata.deletionTimestamp ? [] : configurations.map((recipe) => `${siteKey(scope, target)} ${recipeKey(recipe)}`);

/** Resolves when this replica no longer leads. What waits then is lost. */
export const runSessionOutcomesController = async (
  { kube, subscriber, origin, reported, log }: SessionOutcomesDeps,
  lead: Lead,
): Promise<void> => {
  /** The configurations of each SiteConfig, by its name. */
  const given = new Map<string, string[]>();
  const configs = startReflector({
    kube,
    type: siteConfigKind,
    log,
    keep: ({ status: _, ...rest }) => rest,
    onChange(config, change) {
      if (change === "DELETED") given.delete(config.metadata.name);
      else given.set(config.metadata.name, namesOf(config));
    },
  });
  const isGiven: IsGiven = ({ scope, target }, recipe) => {
    const name = `${siteKey(scope, target)} ${recipeKey(recipe)}`;
    return [...given.values()].some((names) => names.includes(name));
  };
  const collector = createCollector({
    evidence: createEvidenceStore({ kube }),
    origin,
    isGiven,
    now: Date.now,
    reported,
  });
  try {
    await configs.synced(lead.signal);
    await followSiteReports(subscriber, collector.add, log);
    for (;;) {
      await sleep(flushEveryMs, undefined, { signal: lead.signal });
      lead.check();
      // What it says may name a site.
      await collector.flush(lead.signal).catch(() => log.warn("outcomes of sessions could not be written"));
    }
  } catch (error) {
    if (!lead.signal.aborted) throw error;
  } finally {
    await configs.stop();
  }
};
