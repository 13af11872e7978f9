import type { Config } from "../../core/config/config.ts";
import type { Called } from "../../core/leases/agent/agent-call.ts";
import { requestOf } from "../../core/leases/records.ts";
import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { FindSessionDeps, FoundSession } from "../../core/sessions/find-session.ts";
import { findUsable, type UserOf } from "../../core/sessions/may-use.ts";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { ReplayRecord } from "./recording-store.ts";
import type { StartReplayBody } from "./recording-wire.ts";
import { claimName, mostBytesOf, mostPerProject, mostPerSession, type ReplayParts } from "./recordings.ts";

type Deps = FindSessionDeps & { blobs: BlobStore; config: Config; log: Logger; replays: ReplayParts };

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

/** Throws `too_many_requests` when the session or its project has no room for one more. */
const reserve = async (record: ReplayRecord, { replays: { records }, config }: Deps): Promise<void> => {
  const { seconds, bytesPerProject } = config.keptReplays;
  if ((await records.list(record.poolUid, record.session)).length >= mostPerSession)
    throw new AppError("too_many_requests", `a session has ${mostPerSession} recordings at most`);
  const wanted = { bytes: record.mostBytes, ms: record.goesMs - record.startedMs + seconds * 1000 };
  if (await records.reserve(record, wanted, { bytes: bytesPerProject, count: mostPerProject })) return;
  throw new AppError(
    "too_many_requests",
    `the recordings of this project have no room for one of ${mebibytes(record.mostBytes)} MiB at most: ` +
      `there may be ${mostPerProject} of them with ${mebibytes(bytesPerProject)} MiB, and each is kept for ${seconds} s; ` +
      "ask for a shorter max_duration_in_seconds, or wait until older ones are gone",
  );
};

const refused = async (
  answer: Exclude<Called<object>, { kind: "ok" }>,
  { lease, poolUid }: FoundSession,
  { store, log }: Deps,
): Promise<AppError> => {
  const code = answer.kind === "refused" ? answer.code : "";
  if (!(await store.lease(poolUid, lease.session)))
    return new AppError("not_found", `browser ${lease.session} has ended`);
  if (code === "replay_in_progress")
    return new AppError("conflict", "this browser is being recorded already; stop that recording first");
  if (code === "too_many_requests")
    return new AppError("too_many_requests", "the last recordings of this browser are still being stored", {
      retryAfterSeconds: 2,
    });
  log.warn({ session_id: lease.session, answer }, "the browser's agent begins no recording");
  return unavailable("the browser");
};

/** Has the agent begin. It knows nothing of it after any error. */
const begin = async (record: ReplayRecord, wanted: StartReplayBody, found: FoundSession, deps: Deps): Promise<void> => {
  const { client } = deps.replays;
  const { lease } = found;
  const { session, epoch, seq } = lease;
  const answer = await client.start(lease, record.id, {
    session_id: session,
    epoch,
    seq,
    framerate: wanted.framerate,
    seconds: wanted.max_duration_in_seconds,
    max_bytes: record.mostBytes,
  });
  if (answer.kind === "ok") return;
  const error = await refused(answer, found, deps);
  // It may have begun without an answer.
  if (answer.kind === "unreachable") await client.stored(lease, { session, id: record.id });
  throw error;
};

/**
 * Begins to record the browser of an active session. Throws `not_found`, `not_supported_here`, `conflict` while it is being recorded
 * already, and `too_many_requests` without room for its video.
 */
export const startReplay = async (
  { idOrName, request, principal }: Pick<UserOf, "principal"> & { idOrName: string; request: StartReplayBody },
  project: Project,
  deps: Deps,
): Promise<ReplayRecord> => {
  const found = await findUsable(idOrName, { project, principal }, deps);
  // Without a store it says so.
  if (!deps.config.blobs) await deps.blobs.check({ signal: AbortSignal.timeout(1000) });
  const { lease, poolUid } = found;
  const { project: projectId } = requestOf(lease);
  const startedMs = Date.now();
  const seconds = request.max_duration_in_seconds;
  const record: ReplayRecord = {
    id: newId(),
    session: lease.session,
    poolUid,
    projectId,
    startedMs,
    // Until it is finished: longer than it can take.
    goesMs: startedMs + (seconds + deps.config.keptReplays.seconds) * 1000,
    mostBytes: mostBytesOf(seconds),
  };
  await reserve(record, deps);
  try {
    // In this order: whatever fails or dies in between, the recording is collected or forgotten.
    await deps.replays.records.put(record);
    deps.replays.collector.collect({ session: claimName(record.session, record.id), poolUid });
    await begin(record, request, found, deps);
    return record;
  } catch (error) {
    await deps.replays.records.drop(record).catch(() => undefined);
    throw error;
  }
};
