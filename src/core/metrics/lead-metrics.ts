import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createOwnedSeries, type Owner, other } from "./owned-series.ts";
import type { Owners } from "./session-series.ts";

/** The steps of a browser's start: until it has a node, until its container runs, until its agent is ready. */
export type StartStage = "scheduled" | "running" | "ready";

/** Pooled sessions and on-demand sessions of all projects. */
type SessionCounts = { pooled: number; onDemand: number };

/** How many objects of each kind the projects have, by plural and namespace. */
type ObjectCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What the leader knows; each part is asked for at scrapes. */
export type LeadView = {
  limits: { pooledSessions: number; onDemandSessions: number; objectsPerProject: Readonly<Record<string, number>> };
  sessions(): SessionCounts;
  pools(): { uid: string; namespace: string; name: string; createdAt: string }[];
  projects(): { id: string; namespace: string; createdAt: string }[];
};

/** The pools and projects that the leader knows, as metrics name them. */
export const ownersOf = ({ pools, projects }: Pick<LeadView, "pools" | "projects">): Owners => ({
  pools() {
    const idOf = new Map(projects().map(({ namespace, id }) => [namespace, id]));
    return pools().flatMap(({ uid, namespace, name, createdAt }) => {
      const project = idOf.get(namespace);
      return project === undefined ? [] : { key: uid, createdAt, labels: { project, pool: name } };
    });
  },
  projects: () => projects().map(({ id, createdAt }) => ({ key: id, createdAt, labels: { project: id } })),
});

export type LeadMetrics = ReturnType<typeof createLeadMetrics>;

const byNamespaceOf = (all: readonly { namespace: string }[]): Map<string, number> =>
  new Map([...Map.groupBy(all, ({ namespace }) => namespace)].map(([namespace, some]) => [namespace, some.length]));

const mostOf = (counts: ReadonlyMap<string, number> | undefined): number => Math.max(0, ...(counts?.values() ?? []));

type Use = { view(): LeadView | undefined; objects: ReadonlySet<() => ObjectCounts> };

/** What is used beside the limits. */
const createUseGauges = (registers: Registry[], { view, objects }: Use): void => {
  const sessionGauge = (name: string, help: string, of: (view: LeadView) => SessionCounts) =>
    new Gauge({
      name,
      help,
      labelNames: ["limit"] as const,
      registers,
      collect() {
        this.reset();
        const present = view();
        if (!present) return;
        const { pooled, onDemand } = of(present);
        this.set({ limit: "pooled_sessions" }, pooled);
        this.set({ limit: "on_demand_sessions" }, onDemand);
      },
    });
  sessionGauge("browserpool_limit", "Limits of the organization, by limit.", ({ limits }) => ({
    pooled: limits.pooledSessions,
    onDemand: limits.onDemandSessions,
  }));
  sessionGauge(
    "browserpool_limit_used",
    "What all projects use of the organization's limits, by limit.",
    ({ sessions }) => sessions(),
  );
  const objectGauge = (
    name: string,
    help: string,
    of: (plural: string, most: number, counts: ObjectCounts) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ["kind"] as const,
      registers,
      collect() {
        this.reset();
        const counts = new Map([...objects].flatMap((count) => [...count()]));
        counts.set("browserpools", byNamespaceOf(view()?.pools() ?? []));
        for (const [plural, bound] of Object.entries(view()?.limits.objectsPerProject ?? {}))
          this.set({ kind: plural }, of(plural, bound, counts));
      },
    });
  objectGauge(
    "browserpool_project_objects_limit",
    "Most objects of a kind that HTTP makes in a project, by the kind's plural.",
    (_, bound) => bound,
  );
  objectGauge(
    "browserpool_project_objects_used",
    "Objects of a kind in the project that has the most of them, by the kind's plural.",
    (plural, _, counts) => mostOf(counts.get(plural)),
  );
};

/**
 * Metrics that only the leader has values of: what is used beside the limits, and what browsers take. `most`: how many
 * projects have labels of their own.
 */
export const createLeadMetrics = (registry: Registry, { most }: { most: number }) => {
  const registers = [registry];
  let view: LeadView | undefined;
  const objects = new Set<() => ObjectCounts>();
  const settle = new Set<() => void>();
  const byNamespace = (): Owner<{ project: string }>[] =>
    (view?.projects() ?? []).map(({ id, namespace, createdAt }) => ({
      key: namespace,
      createdAt,
      labels: { project: id },
    }));
  const projects = createOwnedSeries({ most, owners: byNamespace, others: { project: other } });
  createUseGauges(registers, { view: () => view, objects });
  const browserSeconds: Counter<"project"> = new Counter({
    name: "browserpool_browser_seconds_total",
    help: "Seconds for which browsers have had a node, by project, pooled and on-demand ones.",
    labelNames: ["project"] as const,
    registers,
    collect() {
      for (const one of settle) one();
      projects.sweep();
    },
  });
  const starts = new Histogram({
    name: "browserpool_browser_start_seconds",
    help: "Time of each stage of a browser's start: from its pod's creation until it has a node (scheduled), then until its container runs, images pulled (running), then until its agent is ready (ready).",
    labelNames: ["stage"] as const,
    buckets: [1, 2, 3, 5, 10, 20, 30, 60, 120, 180],
    registers,
  });
  return {
    /** Shows what this leader knows until the returned function is called. */
    lead(mine: LeadView): () => void {
      view = mine;
      return () => {
        if (view === mine) view = undefined;
      };
    },
    /** Counts objects at each scrape until the returned function is called. */
    countObjects(count: () => ObjectCounts): () => void {
      objects.add(count);
      return () => void objects.delete(count);
    },
    /** Browsers of this namespace have had nodes for this time. */
    browsersRan(namespace: string, seconds: number): void {
      const labels = projects.labelsOf(namespace);
      browserSeconds.inc(labels, seconds);
      projects.note(namespace, browserSeconds, labels);
    },
    /** Calls `now` before each scrape, so that it tells of the time until then; stops when the result is called. */
    beforeScrape(now: () => void): () => void {
      settle.add(now);
      return () => void settle.delete(now);
    },
    stageTook: (stage: StartStage, seconds: number): void => starts.observe({ stage }, seconds),
  };
};
