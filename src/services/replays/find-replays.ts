import { AppError } from "../../errors.ts";
import type { ReplayRecord } from "../../redis/replay-store.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { type FoundSession, findSession } from "../sessions/find-session.ts";

type Asked = { idOrName: string; includeEnded: boolean };

/** The recordings of a session, in the order of their begin. Throws `not_found`. */
export const listReplays = async (
  { idOrName, includeEnded }: Asked,
  project: Project,
  deps: ServiceDeps,
): Promise<ReplayRecord[]> => {
  const { lease, poolUid } = await findSession(idOrName, { project, includeEnded }, deps);
  return deps.replays.records.list(poolUid, lease.session);
};

/** One recording of a session. Throws `not_found`. */
export const findReplay = async (
  { idOrName, includeEnded, replayId }: Asked & { replayId: string },
  project: Project,
  deps: ServiceDeps,
): Promise<FoundSession & { record: ReplayRecord }> => {
  const found = await findSession(idOrName, { project, includeEnded }, deps);
  const record = await deps.replays.records.get(found.poolUid, found.lease.session, replayId);
  if (!record) throw new AppError("not_found", `browser ${idOrName} has no recording ${replayId.slice(0, 100)}`);
  return { ...found, record };
};
