/**
 * Writes what is known of sites into the SiteEvidence objects.
 *
 *   read the object ──► change its lines ──► write it, if nobody else has since ──► (somebody has: from the start)
 *
 * All scopes of a site are in one object, so a run counts in all of them or in none. The object remembers the last
 * runs: a run that is added again, since its writer died before it knew, counts once.
 */

import { doubling, retry } from "../../platform/base/retry.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason, isTransient } from "../../platform/kube/kube-error.ts";
import { packSites, readSite, type SiteLines, shardOf, siteKey, unpackSites, writeSite } from "./pack-sites.ts";
import { valuesOf } from "./rules/recommend.ts";
import { addRun, mergeSites, type Run } from "./rules/site.ts";
import { type Target, targetOfSite } from "./rules/target.ts";
import { maxRememberedRuns, type SiteEvidence, type SiteLine, siteEvidenceKind } from "./site-evidence.ts";
import { siteScopes } from "./site-recipe.ts";

/** Tries of one write against other writers and short outages. */
const tries = 10;
const pauseOf = doubling(20, 1000);

/** What a write did: `left`: sites that left a full object. */
type Written = { left: number };

type MergeOptions = {
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, all: number) => void) | undefined;
};

/** What one session found. */
export type SessionRun = { runId: string; target: Target; run: Run };

/** Whether a session counts for a site; `known`: what the objects say of it. */
export type MayCount = (
  run: SessionRun,
  place: Pick<SiteLine, "scope" | "target">,
  known: SiteLine | undefined,
) => boolean;

export type EvidenceStore = {
  /**
   * Adds what a run found of a target to its exact, host and domain knowledge. `runId`: adding it again does nothing.
   */
  addRun(target: Target, run: Run & { runId: string }, signal?: AbortSignal): Promise<Written>;
  /**
   * Adds what sessions found of one registrable domain, in one write, to the sites for which `begin()` says so: it is
   * called for each try of the write.
   */
  addSessions(
    domain: string,
    runs: readonly SessionRun[],
    begin: () => MayCount,
    signal?: AbortSignal,
  ): Promise<Written>;
  /** Merges sites; the same again changes nothing. `onProgress`: called after each object. */
  merge(sites: readonly SiteLine[], options?: MergeOptions): Promise<Written>;
  /** All sites, object by object. */
  all(): AsyncIterable<SiteLine>;
};

const isCurable = (error: unknown): boolean =>
  isTransient(error) || hasReason(error, "Conflict") || hasReason(error, "AlreadyExists");

/** The name of the object that a site belongs to. */
const shardOfSite = (site: Pick<SiteLine, "scope" | "target">): string => {
  const target = targetOfSite(site);
  return shardOf(typeof target === "string" ? site.target : target.domain);
};

/** Rewrites the line of a site; returns whether it is another one then. */
const rewrite = (
  lines: SiteLines,
  { scope, target }: Pick<SiteLine, "scope" | "target">,
  next: (known: SiteLine | undefined) => SiteLine,
): boolean => {
  const key = siteKey(scope, target);
  const before = lines.get(key);
  const after = writeSite(next(before === undefined ? undefined : readSite(before)));
  lines.set(key, after);
  return after !== before;
};

const siteAt = (lines: SiteLines, { scope, target }: Pick<SiteLine, "scope" | "target">): SiteLine | undefined => {
  const line = lines.get(siteKey(scope, target));
  return line === undefined ? undefined : readSite(line);
};

/** Writes through `kube`; reads the objects each time. */
export const createEvidenceStore = ({ kube }: { kube: Kube }): EvidenceStore => {
  const fetch = async (name: string): Promise<SiteEvidence> =>
    (await kube.get(siteEvidenceKind, { name })) ??
    (await kube.create(siteEvidenceKind, { metadata: { name }, spec: {} }));

  /** `change` returns false when there is nothing to write. */
  const update = (
    name: string,
    change: (lines: SiteLines, runs: string[]) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Written> =>
    retry(
      async () => {
        const object = await fetch(name);
        const lines = unpackSites(object.status?.sites ?? "");
        const runs = [...(object.status?.runs ?? [])];
        if (!change(lines, runs)) return { left: 0 };
        const { packed, siteCount, left } = packSites(lines);
        const status = { sites: packed, siteCount, runs: runs.slice(-maxRememberedRuns) };
        await kube.replace(siteEvidenceKind, { ...object, status }, { subresource: "status" });
        return { left };
      },
      { isCurable, tries, pauseMs: (failures) => pauseOf(failures) * (0.5 + Math.random() / 2), signal },
    );

  const mergeInto = (lines: SiteLines, site: SiteLine): boolean =>
    rewrite(lines, site, (known) => (known ? mergeSites(known, site) : site));

  return {
    addRun: (target, { runId, ...run }, signal) =>
      update(
        shardOf(target.domain),
        (lines, runs) => {
          if (runs.includes(runId)) return false;
          runs.push(runId);
          const values = valuesOf(target);
          for (const scope of siteScopes) {
            const place = { scope, target: values[scope] };
            rewrite(lines, place, (known) => addRun(known, place, run));
          }
          return true;
        },
        signal,
      ),
    addSessions: (domain, sessions, begin, signal) =>
      update(
        shardOf(domain),
        (lines, runs) => {
          const mayCount = begin();
          const fresh = sessions.filter(({ runId }) => !runs.includes(runId));
          const counted = fresh.filter((session) => {
            const values = valuesOf(session.target);
            const places = siteScopes.map((scope) => ({ scope, target: values[scope] }));
            const mine = places.filter((place) => mayCount(session, place, siteAt(lines, place)));
            for (const place of mine) rewrite(lines, place, (known) => addRun(known, place, session.run));
            return mine.length > 0;
          });
          runs.push(...counted.map(({ runId }) => runId));
          return counted.length > 0;
        },
        signal,
      ),
    async merge(sites, { signal, onProgress } = {}) {
      const byName = Map.groupBy(sites, shardOfSite);
      let left = 0;
      let done = 0;
      for (const [name, own] of byName) {
        signal?.throwIfAborted();
        const written = await update(name, (lines) => own.map((site) => mergeInto(lines, site)).some(Boolean), signal);
        left += written.left;
        done += 1;
        onProgress?.(done, byName.size);
      }
      return { left };
    },
    async *all() {
      const { items } = await kube.list(siteEvidenceKind);
      for (const { status } of items)
        for (const line of unpackSites(status?.sites ?? "").values()) {
          const site = readSite(line);
          if (site) yield site;
        }
    },
  };
};
