/**
 * Operations of a session that are served in two places: at `/browsers/{id_or_name}/…` for a key, and below the session's `base_url`
 * for its token, where the public clients ask for them once they know the session. Who has the token has the browser, and so may see
 * what it does.
 */
import type { Express, Request } from "express";
import { AppError } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import type { AppDeps } from "../http/app-deps.ts";
import { failedToken } from "../http/failed-attempt.ts";
import { nestQuery, validate } from "../http/middleware/validate.ts";
import { logOf, setRoute } from "../http/request-locals.ts";
import type { Route } from "../http/route.ts";
import { callerGone } from "../http/serve-route.ts";
import { eventHeaders, sendEvents } from "../http/sse.ts";
import { type SessionByToken, sessionByToken } from "../sessions/authorize-session.ts";

/** What precedes the name of the operation in both places. */
const atApi = "/browsers/{id_or_name}/";
const atSession = "/gateway/:session/";

const one = (value: unknown): string => (typeof value === "string" ? value : "");

const authorize = async (request: Request, { services }: AppDeps): Promise<SessionByToken> => {
  const asked = { sessionId: one(request.params.session), token: one(request.query.jwt) };
  try {
    return await sessionByToken(asked, services);
  } catch (error) {
    throw error instanceof AppError ? failedToken(request, services, error) : error;
  }
};

/** Serves the streams of `routes` that are of a session. */
export const mountSessionRoutes = (app: Express, routes: readonly Route[], deps: AppDeps): void => {
  for (const { path, query: schema, streamOfSession } of routes) {
    if (!streamOfSession) continue;
    const name = path.slice(atApi.length);
    app.get(`${atSession}${name}`, async (request, response) => {
      setRoute(response, `/gateway/{session}/${name}`);
      const { projectId, ...found } = await authorize(request, deps);
      const { callerLimits } = deps.services;
      whenClosed(response, callerLimits.enterStream({ keyId: `session/${found.lease.session}`, projectId }));
      const gone = new AbortController();
      whenClosed(response, () => gone.abort(callerGone()));
      const signal = AbortSignal.any([gone.signal, deps.stopping, deps.draining]);
      const { jwt: _, ...given } = request.query;
      const query = schema && validate(schema, nestQuery(given, schema));
      if (request.method === "HEAD") {
        response.set(eventHeaders).end();
        return;
      }
      const asked = { query, lastEventId: request.get("last-event-id") };
      const events = await streamOfSession(found, asked, deps.services, signal);
      await sendEvents(response, events, { signal, requireAllowed: () => undefined, log: logOf(response) });
    });
  }
};
