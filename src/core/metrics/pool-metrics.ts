import { Gauge, type Registry } from "prom-client";
import { byAge, other } from "./owned-series.ts";

/** Of a pool, or of several together: its size, its browsers, and the callers that wait for one. */
export type PoolCounts = { size: number; available: number; acquired: number; starting: number; waiting: number };

/** Browsers that are outdated: all of an earlier image or pod template, and idle ones of an earlier configuration. */
type OutdatedCounts = { image: number; configuration: number };

/**
 * A pool as its status counts it. `key`: its uid. `project`: the id; `pool`: its name, or its id when it has none.
 * `createdAt`: RFC 3339.
 */
export type PoolFigures = PoolCounts & {
  key: string;
  project: string;
  pool: string;
  createdAt: string;
  outdated: OutdatedCounts;
  /** Browsers by version of Chromium. */
  chromium: readonly { version: string; browsers: number }[];
};

/** The browsers of a pool, or of several, by the label `state`. */
export const browsersByState = ({ size, available, acquired, starting }: PoolCounts) =>
  [
    ["wanted", size],
    ["available", available],
    ["acquired", acquired],
    ["starting", starting],
  ] as const;

/**
 * Metrics of each pool, for dashboards, alerts and scalers: unlike all others they have names as labels, of the `most`
 * oldest pools; the rest are added up. `pools` is called at each scrape. Every replica of the api tells the same, so
 * take the `max` of them.
 */
export const createPoolMetrics = (
  registry: Registry,
  { most, pools }: { most: number; pools: () => PoolFigures[] },
): void => {
  const registers = [registry];
  const labelled = (): (PoolFigures & { labels: { project: string; pool: string } })[] =>
    pools()
      .sort(byAge)
      .map((one, index) => ({
        ...one,
        labels: index < most ? { project: one.project, pool: one.pool } : { project: other, pool: other },
      }));
  new Gauge({
    name: "browserpool_pool_browsers",
    help: "Browsers of each pool by state; `wanted` is the pool's size.",
    labelNames: ["project", "pool", "state"] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, ...counts } of labelled())
        for (const [state, count] of browsersByState(counts)) this.inc({ ...labels, state }, count);
    },
  });
  new Gauge({
    name: "browserpool_pool_waiting_callers",
    help: "Callers that wait for a browser of each pool.",
    labelNames: ["project", "pool"] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, waiting } of labelled()) this.inc(labels, waiting);
    },
  });
  new Gauge({
    name: "browserpool_pool_outdated_browsers",
    help: "Browsers of each pool that are outdated, by what of them is: the image or pod template, or the configuration of an idle one.",
    labelNames: ["project", "pool", "outdated"] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, outdated } of labelled())
        for (const [what, count] of Object.entries(outdated)) this.inc({ ...labels, outdated: what }, count);
    },
  });
  new Gauge({
    name: "browserpool_pool_chromium_browsers",
    help: "Browsers of each pool by version of Chromium, of its four newest.",
    labelNames: ["project", "pool", "version"] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, chromium } of labelled())
        for (const { version, browsers } of chromium) this.inc({ ...labels, version }, browsers);
    },
  });
};
