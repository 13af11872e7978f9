import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../core/config/config.ts";
import type { Called } from "../../core/leases/agent/agent-call.ts";
import { requestOf } from "../../core/leases/records.ts";
import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import { signRecordingToken } from "../../core/protocol/session-token.ts";
import { findUsable, type UserOf } from "../../core/sessions/authorize-session.ts";
import type { FindSessionDeps, FoundSession } from "../../core/sessions/find-session.ts";
import { AppError, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { StoredRecording } from "./recording-store.ts";
import type { Replay, StartReplayBody } from "./recording-wire.ts";
import { claimName, mostBytesOf, mostPerProject, mostPerSession, type RecordingParts } from "./recordings.ts";

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** A recording as callers get it. `baseUrl`: of this service. */
export const recordingAnswer = (
  { id, session, poolUid, startedMs, finished }: StoredRecording,
  baseUrl: string,
  { signingKey }: { signingKey: KeyObject },
): Replay => {
  const jwt = signRecordingToken(signingKey, { sessionId: session, poolUid, recordingId: id });
  return {
    replay_id: id,
    started_at: timeOf(startedMs),
    finished_at: finished ? timeOf(finished.atMs) : null,
    replay_view_url: `${baseUrl}/gateway/${session}/replays/${id}?jwt=${jwt}`,
    ...(finished && { end_reason: finished.why }),
  };
};

type Asked = Pick<UserOf, "principal"> & { idOrName: string; includeEnded: boolean };

/** The recordings of a session, in the order of their begin. Throws `not_found` and `forbidden`. */
export const listRecordings = async (
  { idOrName, includeEnded, principal }: Asked,
  project: Project,
  deps: FindSessionDeps & { recordings: RecordingParts },
): Promise<StoredRecording[]> => {
  const { lease, poolUid } = await findUsable(idOrName, { project, includeEnded, principal }, deps);
  return deps.recordings.records.list(poolUid, lease.session);
};

/** One recording of a session. Throws `not_found` and `forbidden`. */
export const findRecording = async (
  { idOrName, includeEnded, recordingId, principal }: Asked & { recordingId: string },
  project: Project,
  deps: FindSessionDeps & { recordings: RecordingParts },
): Promise<FoundSession & { record: StoredRecording }> => {
  const found = await findUsable(idOrName, { project, includeEnded, principal }, deps);
  const record = await deps.recordings.records.get(found.poolUid, found.lease.session, recordingId);
  if (!record) throw new AppError("not_found", `browser ${idOrName} has no recording ${recordingId.slice(0, 100)}`);
  return { ...found, record };
};

type Deps = FindSessionDeps & { blobs: BlobStore; config: Config; log: Logger; recordings: RecordingParts };

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

/** Throws `too_many_requests` when the session or its project has no room for one more. */
const reserve = async (record: StoredRecording, { recordings: { records }, config }: Deps): Promise<void> => {
  const { seconds, bytesPerProject } = config.keptRecordings;
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
const begin = async (
  record: StoredRecording,
  wanted: StartReplayBody,
  found: FoundSession,
  deps: Deps,
): Promise<void> => {
  const { client } = deps.recordings;
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
 * Begins to record the browser of an active session. Throws `not_found`, `not_supported_here`, `conflict` while it is
 * being recorded already, and `too_many_requests` without room for its video.
 */
export const startRecording = async (
  { idOrName, request, principal }: Pick<UserOf, "principal"> & { idOrName: string; request: StartReplayBody },
  project: Project,
  deps: Deps,
): Promise<StoredRecording> => {
  const found = await findUsable(idOrName, { project, principal }, deps);
  // Without a store it says so.
  if (!deps.config.blobs) await deps.blobs.check({ signal: AbortSignal.timeout(1000) });
  const { lease, poolUid } = found;
  const { project: projectId } = requestOf(lease);
  const startedMs = Date.now();
  const seconds = request.max_duration_in_seconds;
  const record: StoredRecording = {
    id: newId(),
    session: lease.session,
    poolUid,
    projectId,
    startedMs,
    // Until it is finished: longer than it can take.
    goesMs: startedMs + (seconds + deps.config.keptRecordings.seconds) * 1000,
    mostBytes: mostBytesOf(seconds),
  };
  await reserve(record, deps);
  try {
    // In this order: whatever fails or dies in between, the recording is collected or forgotten.
    await deps.recordings.records.put(record);
    deps.recordings.collector.collect({ session: claimName(record.session, record.id), poolUid });
    await begin(record, request, found, deps);
    return record;
  } catch (error) {
    await deps.recordings.records.drop(record).catch(() => undefined);
    throw error;
  }
};

/** How long the video may take to be stored, ms, and the time between two looks. */
const storedMs = 30_000;
const lookMs = 100;

/**
 * Ends a recording, and resolves when its video is stored. One that has ended needs no more. Throws `not_found`, and
 * `unavailable` when it is not stored in time; then it is stored later.
 */
export const stopRecording = async (
  { idOrName, recordingId, principal }: Pick<UserOf, "principal"> & { idOrName: string; recordingId: string },
  project: Project,
  deps: FindSessionDeps & { log: Logger; recordings: RecordingParts },
  signal: AbortSignal,
): Promise<void> => {
  const { record, lease, poolUid } = await findRecording(
    { idOrName, includeEnded: true, recordingId, principal },
    project,
    deps,
  );
  if (record.finished) return;
  const { client, collector, records } = deps.recordings;
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
