/**
 * What clients ask a host for that they know by its http URL alone, as `connectOverCDP(url)` of Playwright and
 * `browserURL` of Puppeteer do: below the session's `base_url` with its token, and at `/browsers/{id_or_name}` for a key.
 */
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { type Answer, type Route, routesWith } from "../../core/http/route.ts";
import { type FindUsableDeps, findUsable } from "../../core/sessions/authorize-session.ts";
import { type CallBrowserDeps, callBrowser } from "../../core/sessions/call-browser.ts";
import type { FoundSession } from "../../core/sessions/find-session.ts";
import { cdpUrlOf } from "../../core/sessions/session-answer.ts";
import { listTargets, readVersion, Targets, Version, VersionAnswer } from "./calls.ts";

type Deps = CallBrowserDeps & FindUsableDeps & { signingKey: KeyObject };

type Place = { found: FoundSession; baseUrl: string; deps: Deps; signal: AbortSignal };

const answered = async (name: string, { found, deps, signal }: Place): Promise<unknown> => {
  const exchanged = await callBrowser(found, { method: "GET", path: name }, deps, signal);
  return exchanged.kind === "json" ? exchanged.answer : undefined;
};

const version = async (place: Place): Promise<Answer> => {
  const { found, baseUrl, deps } = place;
  const body: z.input<typeof VersionAnswer> = {
    ...Version.parse(await answered(readVersion.name, place)),
    webSocketDebuggerUrl: cdpUrlOf(found.lease, baseUrl, deps),
  };
  return { status: 200, body };
};

const targets = async (place: Place): Promise<Answer> => ({
  status: 200,
  body: Targets.parse(await answered(listTargets.name, place)),
});

type About = { operationId: string; summary: string; description: string; answer: string; schema: z.ZodType };

const route = (
  name: string,
  { answer, schema, ...about }: About,
  handle: (place: Place) => Promise<Answer>,
): Route<Deps> => ({
  ...routesWith<Deps>()(
    {
      method: "get",
      path: `/browsers/{id_or_name}/${name}`,
      tag: "Browsers",
      scope: "project",
      permission: "browsers:use",
      ...about,
      params: z.object({ id_or_name: z.string().min(1).max(255).describe("The session's id or name.") }),
      answers: { 200: { description: answer, schema } },
      errors: ["not_found", "rate_limited", "unavailable"],
    },
    async ({ params, project, principal, baseUrl, deps, signal }) =>
      handle({ found: await findUsable(params.id_or_name, { project, principal }, deps), baseUrl, deps, signal }),
  ),
  callOfSession: (found, { baseUrl }, deps, signal) => handle({ found, baseUrl, deps, signal }),
});

const listed = {
  summary: "List what a browser has open, as Chromium does at its port",
  answer: "Its pages, frames and workers",
  schema: Targets,
};

/** In the order of the documentation. */
export const devToolsRoutes = [
  route(
    "json/version",
    {
      operationId: "getDevToolsVersion",
      summary: "Say where a browser's CDP is, as Chromium does at its port",
      description: "Clients of CDP that get an http URL ask for this below it.",
      answer: "Versions, and the URL of its CDP",
      schema: VersionAnswer,
    },
    version,
  ),
  route("json/list", { operationId: "listDevToolsTargets", description: "At most 1000.", ...listed }, targets),
  route("json", { operationId: "listDevToolsTargetsToo", description: "The same as json/list.", ...listed }, targets),
];
