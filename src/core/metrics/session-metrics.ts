import { Counter, type Registry } from "prom-client";
import { createSessionSeries, type Owners, type SessionOwner } from "./session-series.ts";

/** A session whose lease has ended. */
export type EndedSession = SessionOwner & { reason: string; seconds: number };

export type SessionMetrics = ReturnType<typeof createSessionMetrics>;

/**
 * Metrics of sessions by pool and project, in every process that ends leases: the one whose script has ended a lease
 * counts it, so the sum over all processes has each session once. The `most` oldest pools and projects have labels of
 * their own, while `follow` says which there are.
 */
export const createSessionMetrics = (registry: Registry, { most, nowMs }: { most: number; nowMs?: () => number }) => {
  const registers = [registry];
  let owners: Owners = { pools: () => [], projects: () => [] };
  const series = createSessionSeries({
    ...{ most, owners: { pools: () => owners.pools(), projects: () => owners.projects() } },
    ...(nowMs && { nowMs }),
  });
  const ended: Counter<"project" | "pool" | "reason"> = new Counter({
    name: "browserpool_sessions_ended_total",
    help: 'Sessions that have ended by project, pool and reason; on-demand ones have the pool "".',
    labelNames: ["project", "pool", "reason"] as const,
    registers,
    collect: series.sweep,
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
    ended({ reason, seconds: lasted, ...owner }: EndedSession): void {
      const { labels, note } = series.of(owner);
      const counted = { ...labels, reason };
      ended.inc(counted);
      note(ended, counted);
      const ofProject = series.projects.labelsOf(owner.project);
      seconds.inc(ofProject, Math.max(0, lasted));
      series.projects.note(owner.project, seconds, ofProject);
    },
  };
};
