import type { Config } from "../core/config/config.ts";
import { type LeadView, ownersOf } from "../core/metrics/lead-metrics.ts";
import type { OperatorMetrics } from "../core/metrics/operator-metrics.ts";
import type { SessionMetrics } from "../core/metrics/session-metrics.ts";
import type { AcceptedSessions } from "../core/pools/observe/accepted-sessions.ts";
import type { SessionCaps } from "../core/pools/observe/session-caps.ts";
import { indexProjects } from "../core/projects/projects.ts";

type MetricParts = {
  metrics: Pick<OperatorMetrics, "lead">;
  sessionMetrics: Pick<SessionMetrics, "follow">;
  limits: Config["limits"];
  caps: Pick<SessionCaps, "projects">;
  acceptedSessions: Pick<AcceptedSessions, "all" | "pools">;
};

/** Lets the metrics of a leader tell what the leader knows until the returned function is called. */
export const followMetrics = ({
  limits,
  caps,
  acceptedSessions,
  metrics,
  sessionMetrics,
}: MetricParts): (() => void) => {
  const view: LeadView = {
    limits,
    sessions: acceptedSessions.all,
    pools: () =>
      acceptedSessions.pools().map(({ metadata: { uid, namespace, name, creationTimestamp = "" }, spec }) => ({
        ...{ uid, namespace, createdAt: creationTimestamp },
        name: spec.name ?? name,
      })),
    projects: () => indexProjects(caps.projects()).all,
  };
  const stop = metrics.lead.lead(view);
  sessionMetrics.follow(ownersOf(view));
  return () => {
    stop();
    sessionMetrics.follow({ pools: () => [], projects: () => [] });
  };
};
