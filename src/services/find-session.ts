import { AppError } from "../errors.ts";
import type { LeaseRecord } from "../leases/records.ts";
import type { BrowserPool } from "../resources/browser-pool.ts";
import type { Project } from "./projects.ts";
import { refuseWhileRecovering } from "./refuse-while-recovering.ts";
import type { ServiceDeps } from "./service-deps.ts";

export type FoundSession = { lease: LeaseRecord; poolUid: string };

/** The pools of a project, those being deleted included: their leases still run. */
export const poolsOf = (project: Project, { pools }: Pick<ServiceDeps, "pools">): BrowserPool[] =>
  pools.list().filter(({ metadata }) => metadata.namespace === project.namespace);

type Lookup = (poolUid: string) => Promise<LeaseRecord | undefined>;

const findIn = async (pools: BrowserPool[], lookup: Lookup): Promise<FoundSession | undefined> => {
  const found = await Promise.all(
    pools.map(async ({ metadata }) => {
      const lease = await lookup(metadata.uid ?? "");
      return lease && { lease, poolUid: metadata.uid ?? "" };
    }),
  );
  return found.find((session) => session !== undefined);
};

const endedMessage = (idOrName: string, { reason, ended_at }: LeaseRecord): string =>
  `browser ${idOrName} has ended (${reason ?? "unknown"}) at ${new Date(ended_at ?? 0).toISOString()}`;

/**
 * A session of the project, by id, else by name among the active ones. Throws `not_found`, which tells why and when a
 * session ended that did so within the last day; `includeEnded` answers that session instead. Throws `unavailable` while a
 * session that is not found may live.
 */
export const findSession = async (
  idOrName: string,
  { project, includeEnded = false }: { project: Project; includeEnded?: boolean },
  deps: ServiceDeps,
): Promise<FoundSession> => {
  const pools = poolsOf(project, deps);
  const active = await findIn(pools, (uid) => deps.store.lease(uid, idOrName));
  if (active) return active;
  const owner = await deps.names.find(project.id, idOrName);
  const named = owner && (await deps.store.lease(owner.poolUid, owner.session));
  if (owner && named) return { lease: named, poolUid: owner.poolUid };
  const ended = await findIn(pools, (uid) => deps.store.endedLease(uid, idOrName));
  if (!ended) {
    await refuseWhileRecovering(idOrName, pools, deps);
    throw new AppError("not_found", `no browser ${idOrName} in this project`);
  }
  if (!includeEnded) throw new AppError("not_found", endedMessage(idOrName, ended.lease));
  return ended;
};
