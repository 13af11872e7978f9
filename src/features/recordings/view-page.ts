/**
 * A recording below its session's `base_url`, without an API key: a page with a player for a person who opens the URL
 * in a web browser, the video for everybody else, a `<video>` of any page among them. The token in the URL opens this
 * recording and nothing else, for as long as it is kept.
 */

import type { KeyObject } from "node:crypto";
import type { Express, Request, Response } from "express";
import type { Config } from "../../core/config/config.ts";
import type { AppDeps } from "../../core/http/app-deps.ts";
import { failedToken } from "../../core/http/client-address.ts";
import { answerError, asAppError } from "../../core/http/middleware/error-answer.ts";
import { styleSheet } from "../../core/http/pages/style-sheet.ts";
import { factsOf, logOf, setRoute } from "../../core/http/request-locals.ts";
import { sendFile } from "../../core/http/send-file.ts";
import { untilClosed } from "../../core/http/until-closed.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import type { Projects } from "../../core/projects/projects.ts";
import { type AppError, httpStatus } from "../../platform/base/errors.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import { openRecording, recordingByToken, recordingFile } from "./open-recording.ts";
import { noticePage, recordingPage, style } from "./pages.ts";
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

const stylePath = "/replay.css";

/** Players of any page may use the video. The page loads that and its style, and is in no frame but our own pages'. */
const secured = (response: Response): Response =>
  response.set({
    "Content-Security-Policy": [
      "default-src 'none'",
      "media-src 'self'",
      "style-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
  });

/** Whether a web browser opens the URL as a page, and does not play or save it. */
const isPage = ({ headers, query }: Request): boolean =>
  headers["sec-fetch-dest"] === "document" && query.download !== "true";

const sendPage = (response: Response, text: string): void =>
  void secured(response).set("Cache-Control", "no-store").type("html").send(text);

/** The title and text of the page for an error. */
const messageOf = ({ code, message }: AppError): [title: string, text: string] => {
  if (code === "not_found") return ["There is no video", "It is kept no longer, or there was no picture in it."];
  if (code === "conflict") return ["Still being recorded", "Stop the recording, and load this page again."];
  if (code === "unauthorized") return ["This link is not good", "It was not copied whole, or is for something else."];
  return ["Not now", message];
};

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
  const recording = openRecording(record, services);
  if (isPage(request)) return sendPage(response, recordingPage(record, `?jwt=${encodeURIComponent(asked.token)}`));
  whenClosed(response, services.callerLimits.enter("project", record.projectId));
  const signal = untilClosed(response, stopping);
  const options = { name: `${record.id}.webm`, range: request.get("range"), signal };
  const { status, file, headers } = recordingFile(recording, options);
  secured(response).status(status).set(headers);
  if (request.method === "HEAD")
    response.set({ "Content-Type": file.type, "Content-Length": String(file.bytes) }).end();
  else await sendFile(response, { ...file, isShown: request.query.download !== "true" });
};

/** Serves GET of that path. */
export const mountRecordingView = (app: Express, deps: AppDeps<Services>): void => {
  app.get(stylePath, (_request, response) => {
    setRoute(response, stylePath);
    secured(response).set("Cache-Control", "no-cache").type("css").send(styleSheet(style));
  });
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
      else if (isPage(request))
        sendPage(response.status(httpStatus[answered.code]), noticePage(...messageOf(answered)));
      else answerError(response.status(httpStatus[answered.code]), answered);
    }
  });
};
