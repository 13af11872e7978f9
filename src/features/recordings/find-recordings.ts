import type { Project } from "../../core/projects/projects.ts";
import type { FindSessionDeps, FoundSession } from "../../core/sessions/find-session.ts";
import { findUsable, type UserOf } from "../../core/sessions/may-use.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { ReplayRecord } from "./recording-store.ts";
import type { ReplayParts } from "./recordings.ts";

type Asked = Pick<UserOf, "principal"> & { idOrName: string; includeEnded: boolean };

/** The recordings of a session, in the order of their begin. Throws `not_found` and `forbidden`. */
export const listReplays = async (
  { idOrName, includeEnded, principal }: Asked,
  project: Project,
  deps: FindSessionDeps & { replays: ReplayParts },
): Promise<ReplayRecord[]> => {
  const { lease, poolUid } = await findUsable(idOrName, { project, includeEnded, principal }, deps);
  return deps.replays.records.list(poolUid, lease.session);
};

/** One recording of a session. Throws `not_found` and `forbidden`. */
export const findReplay = async (
  { idOrName, includeEnded, replayId, principal }: Asked & { replayId: string },
  project: Project,
  deps: FindSessionDeps & { replays: ReplayParts },
): Promise<FoundSession & { record: ReplayRecord }> => {
  const found = await findUsable(idOrName, { project, includeEnded, principal }, deps);
  const record = await deps.replays.records.get(found.poolUid, found.lease.session, replayId);
  if (!record) throw new AppError("not_found", `browser ${idOrName} has no recording ${replayId.slice(0, 100)}`);
  return { ...found, record };
};
