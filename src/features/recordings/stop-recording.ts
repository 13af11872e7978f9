import { setTimeout as sleep } from "node:timers/promises";
import type { Project } from "../../core/projects/projects.ts";
import type { FindSessionDeps } from "../../core/sessions/find-session.ts";
import type { UserOf } from "../../core/sessions/may-use.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { findReplay } from "./find-recordings.ts";
import { claimName, type ReplayParts } from "./recordings.ts";

/** How long the video may take to be stored, ms, and the time between two looks. */
const storedMs = 30_000;
const lookMs = 100;

/**
 * Ends a recording, and resolves when its video is stored. One that has ended needs no more. Throws `not_found`, and `unavailable` when it
 * is not stored in time; then it is stored later.
 */
export const stopReplay = async (
  { idOrName, replayId, principal }: Pick<UserOf, "principal"> & { idOrName: string; replayId: string },
  project: Project,
  deps: FindSessionDeps & { log: Logger; replays: ReplayParts },
  signal: AbortSignal,
): Promise<void> => {
  const { record, lease, poolUid } = await findReplay(
    { idOrName, includeEnded: true, replayId, principal },
    project,
    deps,
  );
  if (record.finished) return;
  const { client, collector, records } = deps.replays;
  const { session, id } = record;
  const answer = await client.stop(lease, { session, id });
  if (answer.kind !== "ok") deps.log.debug({ session_id: session, replay_id: id, answer }, "no recording to stop");
  // Redis may have lost who collects it.
  await collector.ensure({ session: claimName(session, id), poolUid });
  for (const untilMs = performance.now() + storedMs; performance.now() < untilMs; ) {
    await sleep(lookMs, undefined, { signal });
    const now = await records.get(poolUid, session, id);
    if (!now || now.finished) return;
  }
  throw new AppError("unavailable", "the recording has ended and is not stored yet; repeat the request", {
    retryAfterSeconds: 2,
  });
};
