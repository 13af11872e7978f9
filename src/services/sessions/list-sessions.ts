import { type LeaseRecord, SessionRequest } from "../../leases/records.ts";
import { leaseOwnersOf } from "../pools/lease-owners.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

export type SessionFilter = {
  status: "active" | "deleted" | "all";
  query?: string | undefined;
  tags?: Record<string, string> | undefined;
};

const matches = (lease: LeaseRecord, { query, tags }: SessionFilter): boolean => {
  const request = SessionRequest.parse(JSON.parse(lease.request));
  if (Object.entries(tags ?? {}).some(([key, value]) => request.tags?.[key] !== value)) return false;
  if (!query) return true;
  const wanted = query.toLowerCase();
  return (
    lease.session === query ||
    [request.name, request.pool.name].some((name) => name?.toLowerCase().includes(wanted) === true)
  );
};

/** The sessions of a project that match the filter, newest first. */
export const listSessions = async (
  filter: SessionFilter,
  project: Project,
  deps: ServiceDeps,
): Promise<LeaseRecord[]> => {
  const parts =
    filter.status === "all"
      ? (["leases", "ended"] as const)
      : [filter.status === "active" ? ("leases" as const) : ("ended" as const)];
  const found = await Promise.all(
    leaseOwnersOf(project, deps).flatMap(({ metadata }) => parts.map((part) => deps.store.leases(metadata.uid, part))),
  );
  return found
    .flat()
    .filter((lease) => matches(lease, filter))
    .sort((a, b) => b.created_at - a.created_at || (a.session < b.session ? -1 : 1));
};
