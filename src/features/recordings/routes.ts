/** Recordings of sessions, as the public SDK has them (`browsers.replays`). */

import type { KeyObject } from "node:crypto";
import { z } from "zod";
import type { Config } from "../../core/config/config.ts";
import { routesWith } from "../../core/http/route.ts";
import type { FindSessionDeps } from "../../core/sessions/find-session.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { openRecording, recordingFile, recordingType } from "./open-recording.ts";
import { Replay, StartReplayBody } from "./recording-wire.ts";
import type { RecordingParts } from "./recordings.ts";
import { findRecording, listRecordings, recordingAnswer, startRecording, stopRecording } from "./session-recordings.ts";

type Deps = FindSessionDeps & {
  blobs: BlobStore;
  config: Config;
  log: Logger;
  recordings: RecordingParts;
  signingKey: KeyObject;
};
const defineRoute = routesWith<Deps>();

const tag = "Browsers";
const scope = "project";
const permission = "browsers:use";
const path = "/browsers/{id_or_name}/replays";

const SessionParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") });
const RecordingParams = SessionParams.extend({ replay_id: z.string().min(1).max(64).describe("The recording's id.") });

const EndedQuery = z.object({
  include_deleted: z
    .enum(["true", "false"])
    .optional()
    .describe("Also of an ended session, as long as its recordings are kept."),
});

export const startRecordingRoute = defineRoute(
  {
    method: "post",
    path,
    operationId: "startReplay",
    tag,
    scope,
    permission,
    summary: "Begin to record a browser session",
    params: SessionParams,
    body: StartReplayBody,
    answers: { 201: { description: "The recording has begun", schema: Replay } },
    errors: ["bad_request", "not_supported_here", "not_found", "conflict", "too_many_requests", "unavailable"],
  },
  async ({ params, body, project, principal, baseUrl, deps }) => {
    const record = await startRecording({ idOrName: params.id_or_name, request: body, principal }, project, deps);
    return { status: 201, body: recordingAnswer(record, baseUrl, deps) };
  },
);

export const listRecordingsRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "listReplays",
    tag,
    scope,
    permission,
    summary: "List the recordings of a browser session",
    params: SessionParams,
    query: EndedQuery,
    answers: { 200: { description: "The recordings, the oldest first", schema: z.array(Replay) } },
    errors: ["bad_request", "not_found"],
  },
  async ({ params, query, project, principal, baseUrl, deps }) => {
    const asked = { idOrName: params.id_or_name, includeEnded: query.include_deleted === "true", principal };
    const records = await listRecordings(asked, project, deps);
    return { status: 200, body: records.map((record) => recordingAnswer(record, baseUrl, deps)) };
  },
);

export const stopRecordingRoute = defineRoute(
  {
    method: "post",
    path: `${path}/{replay_id}/stop`,
    operationId: "stopReplay",
    tag,
    scope,
    permission,
    summary: "End a recording and store its video",
    params: RecordingParams,
    answers: { 204: { description: "The video is stored" } },
    errors: ["not_found", "unavailable"],
  },
  async ({ params, project, principal, deps, signal }) => {
    await stopRecording(
      { idOrName: params.id_or_name, recordingId: params.replay_id, principal },
      project,
      deps,
      signal,
    );
    return { status: 204 };
  },
);

export const downloadRecordingRoute = defineRoute(
  {
    method: "get",
    path: `${path}/{replay_id}`,
    operationId: "downloadReplay",
    tag,
    scope,
    permission,
    summary: "Download the video of a recording",
    params: RecordingParams,
    query: EndedQuery,
    isAudited: true,
    answers: {
      200: { description: "The video", files: [recordingType] },
      206: { description: "The part of it that the header Range asks for", files: [recordingType] },
    },
    errors: ["bad_request", "not_supported_here", "not_found", "conflict", "unavailable"],
  },
  async ({ params, query, project, principal, deps, range, signal }) => {
    const asked = { idOrName: params.id_or_name, includeEnded: query.include_deleted === "true", principal };
    const { record } = await findRecording({ ...asked, recordingId: params.replay_id }, project, deps);
    return recordingFile(openRecording(record, deps), { name: `${record.id}.webm`, range, signal });
  },
);
