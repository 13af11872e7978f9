/** Recordings of sessions, as the public SDK has them (`browsers.replays`). */

import type { KeyObject } from "node:crypto";
import { z } from "zod";
import type { Config } from "../../core/config/config.ts";
import { routesWith } from "../../core/http/route.ts";
import type { FindSessionDeps } from "../../core/sessions/find-session.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { openReplay, replayFile, replayType } from "./open-recording.ts";
import { Replay, StartReplayBody } from "./recording-wire.ts";
import type { ReplayParts } from "./recordings.ts";
import { findReplay, listReplays, replayAnswer, startReplay, stopReplay } from "./session-recordings.ts";

type Deps = FindSessionDeps & {
  blobs: BlobStore;
  config: Config;
  log: Logger;
  replays: ReplayParts;
  signingKey: KeyObject;
};
const defineRoute = routesWith<Deps>();

const tag = "Browsers";
const scope = "project";
const permission = "browsers:use";
const path = "/browsers/{id_or_name}/replays";

const SessionParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") });
const ReplayParams = SessionParams.extend({ replay_id: z.string().min(1).max(64).describe("The recording's id.") });

const EndedQuery = z.object({
  include_deleted: z
    .enum(["true", "false"])
    .optional()
    .describe("Also of an ended session, as long as its recordings are kept."),
});

export const startReplayRoute = defineRoute(
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
    const record = await startReplay({ idOrName: params.id_or_name, request: body, principal }, project, deps);
    return { status: 201, body: replayAnswer(record, baseUrl, deps) };
  },
);

export const listReplaysRoute = defineRoute(
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
    const records = await listReplays(asked, project, deps);
    return { status: 200, body: records.map((record) => replayAnswer(record, baseUrl, deps)) };
  },
);

export const stopReplayRoute = defineRoute(
  {
    method: "post",
    path: `${path}/{replay_id}/stop`,
    operationId: "stopReplay",
    tag,
    scope,
    permission,
    summary: "End a recording and store its video",
    params: ReplayParams,
    answers: { 204: { description: "The video is stored" } },
    errors: ["not_found", "unavailable"],
  },
  async ({ params, project, principal, deps, signal }) => {
    await stopReplay({ idOrName: params.id_or_name, replayId: params.replay_id, principal }, project, deps, signal);
    return { status: 204 };
  },
);

export const downloadReplayRoute = defineRoute(
  {
    method: "get",
    path: `${path}/{replay_id}`,
    operationId: "downloadReplay",
    tag,
    scope,
    permission,
    summary: "Download the video of a recording",
    params: ReplayParams,
    query: EndedQuery,
    isAudited: true,
    answers: {
      200: { description: "The video", files: [replayType] },
      206: { description: "The part of it that the header Range asks for", files: [replayType] },
    },
    errors: ["bad_request", "not_supported_here", "not_found", "conflict", "unavailable"],
  },
  async ({ params, query, project, principal, deps, range, signal }) => {
    const asked = { idOrName: params.id_or_name, includeEnded: query.include_deleted === "true", principal };
    const { record } = await findReplay({ ...asked, replayId: params.replay_id }, project, deps);
    return replayFile(openReplay(record, deps), { name: `${record.id}.webm`, range, signal });
  },
);
