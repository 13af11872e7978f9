/**
 * What the registry knows, in this replica's memory (LOOKUP-6, LOOKUP-7): two watches feed it, and a lookup only reads
 * it.
 *
 *   SiteEvidence ──watch──► lines by scope and target, unparsed ──┐
 *                                                                 ├──► find(scope, value): parsed, evidence added up
 *   SiteConfig ────watch──► objects by scope and target ──────────┘
 */

import type { Logger } from "../../platform/base/log.ts";
import { byAge } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { type SiteConfig, type SiteConfigSpec, siteConfigKind } from "./configs/site-config.ts";
import { openSites, parseSite, type SiteText, shardOf, siteKey } from "./pack-sites.ts";
import type { Known, Site } from "./rules/recommend.ts";
import { decisive } from "./rules/session-evidence.ts";
import { judged, recentRuns, recipeKey, type SourcedEvidence, totalOf } from "./rules/site.ts";
import { siteProblems } from "./rules/site-problems.ts";
import { targetOfSite } from "./rules/target.ts";
import { type RecentRun, type SiteEvidence, type SiteLine, siteEvidenceKind } from "./site-evidence.ts";
import type { Recipe, SiteScope } from "./site-recipe.ts";

/** The name of a site. */
export type SitePlace = { scope: SiteScope; target: string };

type SiteFinder = {
  /** What is known of a site; undefined: nothing. */
  find(place: SitePlace): Site | undefined;
  /** The latest runs of its configurations, by `recipeKey`, each's oldest first. */
  recent(place: SitePlace): Map<string, RecentRun[]>;
};

export type SiteIndex = {
  /** The sites of one registrable domain. */
  of(domain: string): SiteFinder;
  /** All sites that are known, in the order of their names within each of a few hundred parts. */
  places(): Iterable<SitePlace>;
  /** Sites that are known: as many as `places` has. It takes 2 µs for each that people have given. */
  size(): number;
};

type Entry = { recipe: Recipe; evidence: readonly SourcedEvidence[] };

const knownOf = ({ recipe, evidence }: Entry): Known[] => {
  const total = totalOf(evidence);
  if (!total) return [];
  const isTried = evidence.some((each) => each.source === "trial" && judged(each) > 0);
  return [{ recipe, evidence: total, decisive: decisive(evidence, total), isTried }];
};

const entryOf = ({ browser, proxy }: Recipe, evidence: Entry["evidence"]): Entry => ({
  recipe: { browser, ...(proxy && { proxy }) },
  evidence,
});

/** The same configurations of both sides are one, with the evidence of both. */
const joined = (entries: readonly Entry[]): Entry[] =>
  [...Map.groupBy(entries, ({ recipe }) => recipeKey(recipe)).values()].flatMap((same) =>
    same[0] ? [{ recipe: same[0].recipe, evidence: same.flatMap(({ evidence }) => evidence) }] : [],
  );

const entriesOf = (given: SiteConfigSpec | undefined, learned: SiteLine | undefined): Entry[] => {
  const found = (learned?.configurations ?? []).map((each) => entryOf(each, each.evidence));
  // A line has each configuration once.
  if (!given) return found;
  return joined([
    ...given.configurations.map((each) => entryOf(each, [{ ...each.evidence, source: "given" as const }])),
    ...found,
  ]);
};

const placeOf = (key: string): SitePlace => {
  const space = key.indexOf(" ");
  return { scope: key.slice(0, space) as SiteScope, target: key.slice(space + 1) };
};

/** The registrable domain of a site's name. */
export const siteDomain = (place: SitePlace): string => {
  const found = targetOfSite(place);
  return typeof found === "string" ? place.target : found.domain;
};

/** The index over what its owner puts in. */
export const createSiteIndex = () => {
  /** By the name of their object. */
  const shards = new Map<string, SiteText>();
  /** Of objects with one target the oldest counts; the operator says so to the others. */
  const configs = new Map<string, SiteConfig[]>();

  return {
    putShard(name: string, packed: string): void {
      shards.set(name, openSites(packed));
    },
    dropShard(name: string): void {
      shards.delete(name);
    },
    putConfig(config: SiteConfig): void {
      const key = siteKey(config.spec.scope, config.spec.target);
      const others = (configs.get(key) ?? []).filter(({ metadata }) => metadata.name !== config.metadata.name);
      configs.set(key, [...others, config].sort(byAge));
    },
    dropConfig({ metadata, spec }: SiteConfig): void {
      const key = siteKey(spec.scope, spec.target);
      const others = (configs.get(key) ?? []).filter(({ metadata: { uid } }) => uid !== metadata.uid);
      if (others.length > 0) configs.set(key, others);
      else configs.delete(key);
    },
    of(domain: string): SiteFinder {
      const lines = shards.get(shardOf(domain));
      const look = ({ scope, target }: SitePlace) => {
        const key = siteKey(scope, target);
        const line = lines?.get(key);
        return { learned: line === undefined ? undefined : parseSite(line), given: configs.get(key)?.[0]?.spec };
      };
      return {
        find(place) {
          const { learned, given } = look(place);
          if (!learned && !given) return undefined;
          return { known: entriesOf(given, learned).flatMap(knownOf), guidance: given?.guidance ?? learned?.guidance };
        },
        recent(place) {
          const { learned, given } = look(place);
          return new Map(
            entriesOf(given, learned).map(({ recipe, evidence }) => [recipeKey(recipe), recentRuns(evidence)]),
          );
        },
      };
    },
    *places(): Iterable<SitePlace> {
      for (const key of configs.keys()) yield placeOf(key);
      for (const lines of shards.values()) for (const key of lines.keys()) if (!configs.has(key)) yield placeOf(key);
    },
    size() {
      const isLearned = (key: string): boolean => shards.get(shardOf(siteDomain(placeOf(key))))?.has(key) === true;
      const onlyGiven = [...configs.keys()].filter((key) => !isLearned(key)).length;
      return [...shards.values()].reduce((sum, lines) => sum + lines.size, onlyGiven);
    },
  };
};

/**
 * Starts the watches that feed an index. It knows nothing before `synced` has resolved; that rejects if `signal` is
 * aborted first.
 */
export const startSiteIndex = ({
  kube,
  log,
}: {
  kube: Kube;
  log: Logger;
}): SiteIndex & { synced(signal?: AbortSignal): Promise<void>; stop(): Promise<void> } => {
  const index = createSiteIndex();
  const takeShard = ({ metadata: { name }, status }: SiteEvidence): void => {
    try {
      index.putShard(name, status?.sites ?? "");
    } catch (err) {
      // What it said before holds on.
      log.error({ err, object: name }, "a SiteEvidence object can't be read");
    }
  };
  const shards = startReflector({
    kube,
    type: siteEvidenceKind,
    log,
    // The lines are all that is read of it.
    keep: ({ status: _, ...rest }) => rest,
    onChange: (object, change) => (change === "DELETED" ? index.dropShard(object.metadata.name) : takeShard(object)),
  });
  const configs = startReflector({
    kube,
    type: siteConfigKind,
    log,
    onChange: (config, change) =>
      change === "DELETED" || config.metadata.deletionTimestamp || siteProblems(config.spec).length > 0
        ? index.dropConfig(config)
        : index.putConfig(config),
  });
  return {
    of: index.of,
    places: index.places,
    size: index.size,
    synced: async (signal) => void (await Promise.all([shards.synced(signal), configs.synced(signal)])),
    stop: async () => void (await Promise.all([shards.stop(), configs.stop()])),
  };
};
