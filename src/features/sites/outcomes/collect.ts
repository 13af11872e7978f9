/**
 * Collects what sessions found, and adds it to the evidence now and then: a write for each session would be too many.
 *
 *   report ──known, room──► waiting ──flush──► one write for each registrable domain ──► counted, skipped
 *                  └──────► dropped                                       └─ it fails ──► dropped
 *
 * What waits is lost when its operator dies. That is less than what sessions that are not reported at all would say.
 */

import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { EvidenceStore, MayCount, SessionRun } from "../evidence-store.ts";
import { createHourlyCounts } from "../rules/hourly-counts.ts";
import { isMadeKnown } from "../rules/session-evidence.ts";
import { recipeKey } from "../rules/site.ts";
import { type Target, targetOf } from "../rules/target.ts";
import type { SiteLine } from "../site-evidence.ts";
import { Recipe } from "../site-recipe.ts";
import type { SiteReport } from "../site-reports.ts";

/** Most reports that wait, of all projects and of one. */
const maxWaiting = { all: 2000, project: 200 };

/** Most domains that one flush writes; the others wait for the next. */
const maxDomains = 32;

/** A place of a site, and one of its configurations. */
export type IsGiven = (place: Pick<SiteLine, "scope" | "target">, recipe: Recipe) => boolean;

export type CollectDeps = {
  evidence: Pick<EvidenceStore, "addSessions">;
  /** The name under which this installation counts. */
  origin: string;
  /** Whether people have given this configuration of a site as YAML. */
  isGiven: IsGiven;
  /** ms since 1970. */
  now: () => number;
  reported(result: "counted" | "skipped" | "dropped", count: number): void;
};

export type Collector = {
  /** Takes a report; what is not right about it makes it none. */
  add(report: SiteReport): void;
  /** Writes what waits. Rejects when the API server refuses it; that part is dropped. */
  flush(signal: AbortSignal): Promise<void>;
};

type Waiting = { project: string; recipe: Recipe; session: SessionRun };

const targetIn = (text: string): Target | undefined => {
  const target = targetOf(text);
  // What has a query, a fragment or a login is no target, whoever says so.
  return typeof target !== "string" && target.normalized === text ? target : undefined;
};

const waitingOf = ({ session, project, recipe, target, verdict }: SiteReport, { origin, now }: CollectDeps) => {
  const { data } = Recipe.safeParse(recipe);
  const found = targetIn(target);
  if (!data || !found) return undefined;
  const counts = { accessed: 0, blocked: 0, inconclusive: 0, [verdict]: 1 };
  const result = { ...data, ...counts, observedAt: new Date(now()).toISOString(), supports: false };
  const run = { origin, source: "session" as const, results: [result], guidance: undefined };
  return { project, recipe: data, session: { runId: session, target: found, run } };
};

const dropSession = (counted: Map<string, SessionRun>, session: SessionRun): void => {
  for (const [key, its] of counted) if (its === session) counted.delete(key);
};

/** Collects for one lead. */
export const createCollector = (deps: CollectDeps): Collector => {
  const hourly = createHourlyCounts();
  let waiting: Waiting[] = [];

  const writeDomain = async (domain: string, group: readonly Waiting[], signal: AbortSignal): Promise<void> => {
    const nowMs = deps.now();
    const of = new Map(group.map((one) => [one.session, one]));
    let counted = new Map<string, SessionRun>();
    const begin = (): MayCount => {
      // A try may have written although no answer came. What it counted stays, but for sessions that this try is asked
      // about again.
      const mine = new Map(counted);
      const asked = new Set<SessionRun>();
      counted = mine;
      return (session, place, known) => {
        if (!asked.has(session)) dropSession(mine, session);
        asked.add(session);
        const { project = "", recipe } = of.get(session) ?? {};
        if (!recipe) return false;
        const key = stableHash([project, place.scope, place.target, recipeKey(recipe)]);
        const isKnown = isMadeKnown(known, recipe) || deps.isGiven(place, recipe);
        if (!isKnown || mine.has(key) || !hourly.mayCount(key, nowMs)) return false;
        mine.set(key, session);
        return true;
      };
    };
    await deps.evidence.addSessions(domain, [...of.keys()], begin, signal);
    for (const key of counted.keys()) hourly.note(key, nowMs);
    const sessions = new Set(counted.values()).size;
    deps.reported("counted", sessions);
    deps.reported("skipped", group.length - sessions);
  };

  return {
    add(report) {
      const one = waitingOf(report, deps);
      const ofProject = waiting.filter(({ project }) => project === report.project).length;
      if (!one || waiting.length >= maxWaiting.all || ofProject >= maxWaiting.project) deps.reported("dropped", 1);
      else waiting.push(one);
    },
    async flush(signal) {
      const groups = [...Map.groupBy(waiting, ({ session }) => session.target.domain)];
      waiting = groups.slice(maxDomains).flatMap(([, group]) => group);
      const failures: unknown[] = [];
      for (const [domain, group] of groups.slice(0, maxDomains))
        await writeDomain(domain, group, signal).catch((error: unknown) => {
          failures.push(error);
          deps.reported("dropped", group.length);
        });
      if (failures.length > 0) throw failures[0];
    },
  };
};
