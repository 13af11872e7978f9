import { createOwnedSeries, type Metric, type Owner, other } from "./owned-series.ts";

/** The pools and the projects that there are. */
export type Owners = { pools(): Owner<{ project: string; pool: string }>[]; projects(): Owner<{ project: string }>[] };

/** Whose a session is. `poolUid`: undefined of an on-demand session. `project`: the id. */
export type SessionOwner = { poolUid: string | undefined; project: string };

/**
 * The series of what comes of sessions: those of a pool have its labels, on-demand ones those of their project and the
 * pool "". The `most` oldest pools and projects have labels of their own.
 */
export const createSessionSeries = ({
  most,
  owners,
  ...clock
}: {
  most: number;
  owners: Owners;
  nowMs?: () => number;
}) => {
  const pools = createOwnedSeries({ most, owners: owners.pools, others: { project: other, pool: other }, ...clock });
  const projects = createOwnedSeries({ most, owners: owners.projects, others: { project: other }, ...clock });
  return {
    pools,
    projects,
    /** The labels for what comes of such a session, and what notes series with them (`OwnedSeries.note`). */
    of({ poolUid, project }: SessionOwner) {
      const [series, key] = poolUid === undefined ? [projects, project] : [pools, poolUid];
      const labels = poolUid === undefined ? { ...projects.labelsOf(project), pool: "" } : pools.labelsOf(poolUid);
      return { labels, note: (metric: Metric, counted: Record<string, string>) => series.note(key, metric, counted) };
    },
    /** To be called at each scrape. */
    sweep(): void {
      for (const series of [pools, projects]) series.sweep();
    },
  };
};
