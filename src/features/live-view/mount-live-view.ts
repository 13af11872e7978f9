/**
 * The page of a session's live view, for people:
 *
 *   GET /gateway/{session}/live?jwt=…  ──► the page; words where the session has ended or the link is not good
 *   GET /live-view/{file}              ──► its scripts and its style, which need no token
 *
 * The page opens a WebSocket at its own URL (gateway.ts). The token in the URL opens nothing else.
 */

import { readdirSync, readFileSync } from "node:fs";
import type { Express, Request, Response } from "express";
import type { Config } from "../../core/config/config.ts";
import type { AppDeps } from "../../core/http/app-deps.ts";
import { failedToken } from "../../core/http/client-address.ts";
import { asAppError, errorHeaders } from "../../core/http/middleware/error-answer.ts";
import { styleSheet } from "../../core/http/pages/style-sheet.ts";
import { factsOf, logOf, setRoute } from "../../core/http/request-locals.ts";
import type { CallerLimits } from "../../core/projects/caller-limits.ts";
import { readOnlyView, viewHeader } from "../../core/protocol/agent-api.ts";
import { type AuthorizeSessionDeps, authorizeSession } from "../../core/sessions/authorize-session.ts";
import { AppError, httpStatus } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import { noticePage, viewPage } from "./pages.ts";

/** What a live view's page is asked for. `readOnly`: it shall only show the browser, whatever its token allows. */
type AskedView = { sessionId: string; token: string; readOnly: boolean };

/**
 * Whether the view of this token may be opened now, and whether it only shows the browser. Throws as
 * `authorizeSession`.
 */
const openLiveView = async (
  asked: AskedView,
  deps: AuthorizeSessionDeps,
): Promise<{ readOnly: boolean; projectId: string }> => {
  const { headers, projectId } = await authorizeSession({ ...asked, path: "/view" }, deps);
  return { readOnly: headers[viewHeader] === readOnlyView, projectId };
};

type Services = AuthorizeSessionDeps & { callerLimits: CallerLimits; config: Config };

const route = "/gateway/{session}/live";

/** What runs in the page, by its name. Read once: these files are part of the program. */
const assets: ReadonlyMap<string, string> = new Map(
  readdirSync(new URL("in-page/", import.meta.url))
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => [name, readFileSync(new URL(`in-page/${name}`, import.meta.url), "utf8")] as const)
    .map(([name, text]) => [name, name.endsWith(".css") ? styleSheet(text) : text]),
);

const secured = (response: Response, { liveViewOrigins }: Config): Response => {
  const isEmbedded = liveViewOrigins.length > 0;
  const ancestors = isEmbedded ? liveViewOrigins.join(" ") : "'none'";
  return response.set({
    "Content-Security-Policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${ancestors}`,
    ].join("; "),
    ...(!isEmbedded && { "X-Frame-Options": "DENY" }),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": isEmbedded ? "cross-origin" : "same-origin",
    "Cache-Control": "no-store",
  });
};

/** The title and text of the page for an error. */
const messageOf = ({ code }: AppError): [title: string, text: string] => {
  if (code === "not_found")
    return ["The session has ended", "Its browser is gone, and there is nothing to see any more."];
  if (code === "unauthorized") return ["This link is not good", "It was not copied whole, or is for something else."];
  if (code === "rate_limited") return ["Too many requests", "Wait a moment and load this page again."];
  return ["Not now", "A part of the service does not answer. Load this page again in a moment."];
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Adds the live view to `app`. It needs no API key: the token in its URL stands for the caller. */
export const mountLiveView = (app: Express, { services }: AppDeps<Services>): void => {
  const { config, callerLimits } = services;
  const open = async (request: Request, response: Response): Promise<string> => {
    const asked = {
      sessionId: textOf(request.params.session),
      token: textOf(request.query.jwt),
      readOnly: request.query.readOnly === "true",
    };
    const { readOnly, projectId } = await openLiveView(asked, services);
    whenClosed(response, callerLimits.enter("project", projectId));
    return viewPage({ readOnly });
  };
  app.get("/gateway/:session/live", async (request, response) => {
    setRoute(response, route);
    const facts = factsOf(response);
    facts.verb = "openLiveView";
    facts.object = route;
    secured(response, config).type("html");
    try {
      response.send(await open(request, response));
    } catch (error) {
      const known = asAppError(error, logOf(response));
      const answered = failedToken(request, services, known);
      facts.code = answered.code;
      response.status(httpStatus[answered.code]).set(errorHeaders(answered));
      response.send(noticePage(...messageOf(answered)));
    }
  });
  app.get("/live-view/:file", (request, response) => {
    const text = assets.get(request.params.file);
    if (text === undefined) throw new AppError("not_found", "the live view has no such file");
    setRoute(response, "/live-view/{file}");
    const type = request.params.file.endsWith(".css") ? "css" : "js";
    secured(response, config).set("Cache-Control", "no-cache").type(type).send(text);
  });
};
