/**
 * The video of a recording below its session's `base_url`, for people: opened by a web browser or in a `<video>`,
 * without an API key. The token in the URL opens this recording and nothing else, for as long as it is kept.
 */

import type { KeyObject } from "node:crypto";
import type { Express, Request, Response } from "express";
import type { Config } from "../../core/config/config.ts";
import type { AppDeps } from "../../core/http/app-deps.ts";
import { failedToken } from "../../core/http/client-address.ts";
import { answerError, asAppError } from "../../core/http/middleware/error-answer.ts";
import { factsOf, logOf, setRoute } from "../../core/http/request-locals.ts";
import { sendFile } from "../../core/http/send-file.ts";
import { callerGone } from "../../core/http/serve-route.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import type { Projects } from "../../core/projects/projects.ts";
import { httpStatus } from "../../platform/base/errors.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import { openRecording, recordingByToken, recordingFile } from "./open-recording.ts";
import type { RecordingParts } from "./recordings.ts";

type Services = {
  blobs: BlobStore;
  callerLimits: CallerLimits;
  config: Config;
  projects: Projects;
  recordings: RecordingParts;
  verifyKey: KeyObject;
};

const route = "/gateway/{session}/replays/{replay}";

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Nothing but a player may use it: it is no page, and loads nothing. */
const secured = (response: Response): Response =>
  response.set({
    "Content-Security-Policy": "default-src 'none'; media-src 'self'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });

const serve = async (
  request: Request,
  response: Response,
  { services, stopping }: AppDeps<Services>,
): Promise<void> => {
  const asked = {
    sessionId: textOf(request.params.session),
    recordingId: textOf(request.params.replay),
    token: textOf(request.query.jwt),
  };
  const record = await recordingByToken(asked, services);
  whenClosed(response, services.callerLimits.enter("project", record.projectId));
  const gone = new AbortController();
  whenClosed(response, () => gone.abort(callerGone()));
  const signal = AbortSignal.any([gone.signal, stopping]);
  const options = { name: `${record.id}.webm`, range: request.get("range"), signal };
  const { status, file, headers } = recordingFile(openRecording(record, services), options);
  secured(response).status(status).set(headers);
  if (request.method === "HEAD")
    response.set({ "Content-Type": file.type, "Content-Length": String(file.bytes) }).end();
  else await sendFile(response, { ...file, isShown: true });
};

/** Serves GET of that path. */
export const mountRecordingView = (app: Express, deps: AppDeps<Services>): void => {
  app.get("/gateway/:session/replays/:replay", async (request, response) => {
    setRoute(response, route);
    const facts = factsOf(response);
    facts.verb = "viewReplay";
    facts.object = route;
    // A player asks for many parts: one line each time that it begins.
    facts.isAlways = /^bytes=0-/.test(request.get("range") ?? "bytes=0-");
    try {
      await serve(request, response, deps);
    } catch (error) {
      const known = asAppError(error, logOf(response));
      const answered = failedToken(request, deps.services, known);
      facts.code = answered.code;
      if (response.headersSent) response.destroy();
      else answerError(response.status(httpStatus[answered.code]), answered);
    }
  });
};
