import { AppError } from "../errors.ts";
import { type EndReason, type LeaseRecord, SessionRequest } from "../leases/records.ts";
import { releaseLease } from "../leases/release-lease.ts";
import type { ReleaseBrowser } from "../resources/session-wire.ts";
import { findPool } from "./find-pool.ts";
import type { Project } from "./projects.ts";
import type { ServiceDeps } from "./service-deps.ts";

/** Ends a session and frees its name; undefined when it is not held (any more). */
export const endSession = async (
  ended: { poolUid: string; session: string; reuse: boolean; reason: EndReason },
  deps: ServiceDeps,
): Promise<LeaseRecord | undefined> => {
  const lease = await releaseLease(ended, deps);
  if (!lease) return undefined;
  const { name, project } = SessionRequest.parse(JSON.parse(lease.request));
  // A name that stays behind is noticed as ownerless when it is wanted again.
  if (name) await deps.names.free(project, name, ended).catch(() => undefined);
  return lease;
};

/** Gives a browser back to its pool, or destroys it. Throws `not_found` for a session that is not acquired from this pool. */
export const releaseBrowser = async (
  { idOrName, request }: { idOrName: string; request: ReleaseBrowser },
  project: Project,
  deps: ServiceDeps,
): Promise<void> => {
  const pool = await findPool(idOrName, project, deps);
  const { session_id: session, reuse } = request;
  const ended = await endSession({ poolUid: pool.metadata.uid ?? "", session, reuse, reason: "released" }, deps);
  if (!ended) throw new AppError("not_found", `session ${session} is not acquired from this pool`);
  deps.metrics.releases.inc({ reuse: String(reuse) });
};
