import { Counter, type Registry } from "prom-client";
import { createOwnedSeries, type Owner, other } from "./owned-series.ts";

/** A session whose lease has ended. `poolUid`: undefined of an on-demand session. `project`: the id. */
export type EndedSession = { project: string; poolUid: string | undefined; reason: string; seconds: number };

/** The pools and the projects that there are. */
export type Owners = { pools(): Owner<{ project: string; pool: string }>[]; projects(): Owner<{ project: string }>[] };

export type SessionMetrics = ReturnType<typeof createSessionMetrics>;

/**
 * Metrics of sessions by pool and project, in every process that ends leases: the one whose script has ended a lease
 * counts it, so the sum over all processes has each session once. The `most` oldest pools and projects have labels of
 * their own, while `follow` says which there are.
 */
export const createSessionMetrics = (registry: Registry, { most, nowMs }: { most: number; nowMs?: () => number }) => {
  const registers = [registry];
  const clock = nowMs ? { nowMs } : {};
  let owners: Owners = { pools: () => [], projects: () => [] };
  const pools = createOwnedSeries({
    most,
    owners: () => owners.pools(),
    others: { project: other, pool: other },
    ...clock,
  });
  const projects = createOwnedSeries({ most, owners: () => owners.projects(), others: { project: other }, ...clock });
  const ended: Counter<"project" | "pool" | "reason"> = new Counter({
    name: "browserpool_sessions_ended_total",
    help: 'Sessions that have ended by project, pool and reason; on-demand ones have the pool "".',
    labelNames: ["project", "pool", "reason"] as const,
    registers,
    collect() {
      pools.sweep();
      projects.sweep();
    },
  });
  const seconds: Counter<"project"> = new Counter({
    name: "browserpool_session_seconds_total",
    help: "Seconds that sessions have lasted, by project; counted when a session ends.",
    labelNames: ["project"] as const,
    registers,
  });
  return {
    /** The pools and projects that have labels from now on. */
    follow(present: Owners): void {
      owners = present;
    },
    ended({ project, poolUid, reason, seconds: lasted }: EndedSession): void {
      const ofProject = projects.labelsOf(project);
      if (poolUid === undefined) {
        const labels = { ...ofProject, pool: "", reason };
        ended.inc(labels);
        projects.note(project, ended, labels);
      } else {
        const labels = { ...pools.labelsOf(poolUid), reason };
        ended.inc(labels);
        pools.note(poolUid, ended, labels);
      }
      seconds.inc(ofProject, Math.max(0, lasted));
      projects.note(project, seconds, ofProject);
    },
  };
};
