/**
 * WebDriver over HTTP below a session's `base_url`: every command that clients send there goes to the session's agent
 * (agent/classic), and all errors have the form of WebDriver, those of the service too.
 *
 *   command ──► token, of the credentials or the query ──► bounds ──► the agent ──► its answer, as it is
 */
import type { KeyObject } from "node:crypto";
import type { Express, Request, Response } from "express";
import { z } from "zod";
import { authorize, callerOf, enterCall, queryToken } from "../../core/api/session-caller.ts";
import type { AppDeps, HttpServices } from "../../core/http/app-deps.ts";
import { asAppError, errorHeaders } from "../../core/http/middleware/error-answer.ts";
import { baseUrlOf } from "../../core/http/middleware/host-check.ts";
import { parseBody } from "../../core/http/middleware/parse-body.ts";
import { factsOf, logOf, setRoute } from "../../core/http/request-locals.ts";
import { sendJson } from "../../core/http/send-json.ts";
import { type CallBrowserDeps, callBrowser } from "../../core/sessions/call-browser.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { bidiUrlOf } from "../../core/sessions/session-answer.ts";
import { AppError, type ErrorCode, httpStatus } from "../../platform/base/errors.ts";
import { CommandAnswer, sendCommand } from "./calls.ts";
import { errorAnswer, type WebDriverAnswer, type WebDriverErrorCode } from "./webdriver-answer.ts";

type Services = HttpServices & CallBrowserDeps & { signingKey: KeyObject };

/** Of all commands, in logs and metrics. */
const route = "/gateway/{session}/session";

/** Most values in a body: long texts are typed by an action for each key. */
const mostEntries = 50_000;

/** Whose password is the token: clients of WebDriver keep a URL's credentials, and few keep its query. */
const userName = "jwt";

const credentialsToken = ({ headers }: Request): string | undefined => {
  const [, base64 = ""] = /^Basic +([\w+/]+=*)$/i.exec(headers.authorization ?? "") ?? [];
  const [user, token] = Buffer.from(base64, "base64").toString().split(":");
  return user === userName ? token : undefined;
};

/** What follows the session's `base_url`, as it was sent: the driver reads its escapes. */
const commandOf = ({ originalUrl, params }: Request): string =>
  originalUrl.split("?")[0]?.slice(`/gateway/${String(params.session)}/`.length) ?? "";

const isNew = (request: Request): boolean => request.method === "POST" && commandOf(request) === "session";

/** What an error of the service is for a client of WebDriver. */
const errorOf = ({ code }: AppError, request: Request): WebDriverErrorCode => {
  const known: Partial<Record<ErrorCode, WebDriverErrorCode>> = {
    not_found: "invalid session id",
    bad_request: "invalid argument",
    unsupported_media_type: "invalid argument",
    payload_too_large: "invalid argument",
    method_not_allowed: "unknown method",
  };
  return known[code] ?? (isNew(request) ? "session not created" : "unknown error");
};

const refusal = (error: AppError, request: Request): WebDriverAnswer =>
  errorAnswer(errorOf(error, request), error.message, {
    status: httpStatus[error.code],
    data: { code: error.code },
  });

/** The answer about a new session that asks for WebDriver BiDi, with its URL. */
const withBidi = ({ body }: CommandAnswer, url: string): WebDriverAnswer["body"] => {
  const { sessionId, capabilities } = body.value as { sessionId: string; capabilities: object };
  return { value: { sessionId, capabilities: { ...capabilities, webSocketUrl: url } } };
};

const methods = ["GET", "POST", "DELETE"] as const;

const given = async (request: Request, response: Response): Promise<Record<string, unknown> | undefined> => {
  if (request.method !== "POST") return undefined;
  const read = z
    .record(z.string(), z.unknown())
    .safeParse(await parseBody(request, response, { bodyEntries: mostEntries }));
  if (read.success) return read.data;
  throw new AppError("bad_request", "the body is a JSON object");
};

const run = async (
  request: Request,
  response: Response,
  found: FoundSession,
  { services, signal }: { services: Services; signal: AbortSignal },
): Promise<WebDriverAnswer> => {
  const method = methods.find((each) => each === request.method);
  if (!method) throw new AppError("method_not_allowed", `WebDriver takes ${methods.join(", ")}`);
  const json = { method, path: commandOf(request), body: await given(request, response) };
  const call = { method: "POST" as const, path: sendCommand.name, json, answerMs: sendCommand.answerMs };
  const exchanged = await callBrowser(found, call, services, signal);
  const answer = CommandAnswer.parse(exchanged.kind === "json" ? exchanged.answer : undefined);
  if (!answer.session?.asksBidi) return answer;
  return {
    status: answer.status,
    body: withBidi(answer, bidiUrlOf(found.lease, baseUrlOf(request.headers, services.config), services)),
  };
};

const serve = async (request: Request, response: Response, deps: AppDeps<Services>): Promise<void> => {
  setRoute(response, route);
  Object.assign(factsOf(response), { verb: "connectWebDriver", object: route });
  const log = logOf(response);
  try {
    const found = await authorize(request, credentialsToken(request) ?? queryToken(request), deps);
    const caller = callerOf(found);
    const signal = enterCall(response, caller, deps);
    const { status, body } = await run(request, response, found, { services: deps.services, signal });
    response.status(status);
    const enter = (bytes: number) => deps.services.callerLimits.enterAnswer(caller, bytes, request.method === "GET");
    await sendJson(response, body, { signal, enter });
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    const known = asAppError(error, log);
    factsOf(response).code = known.code;
    const { status, body } = refusal(known, request);
    response.status(status).set(errorHeaders(known)).json(body);
  }
};

/** Serves the commands, whatever their method. */
export const mountWebDriver = (app: Express, deps: AppDeps<Services>): void => {
  for (const path of ["status", "session", "session/*command"])
    app.all(`/gateway/:session/${path}`, (request, response) => serve(request, response, deps));
};
