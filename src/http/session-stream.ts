/**
 * The stream of a session's telemetry below its `base_url`, where the public SDK asks for it once it knows the session: with the
 * session's token and without an API key. Who has the token has the browser, and so may see what it does.
 */
import type { Express, Request } from "express";
import { AppError } from "../errors.ts";
import { whenClosed } from "../net/when-closed.ts";
import { type SessionByToken, sessionByToken } from "../services/sessions/authorize-session.ts";
import type { AppDeps } from "./app-deps.ts";
import { failedToken } from "./failed-attempt.ts";
import { logOf, setRoute } from "./request-locals.ts";
import { telemetryEvents } from "./routes/browser-telemetry.ts";
import { callerGone } from "./serve-route.ts";
import { eventHeaders, sendEvents } from "./sse.ts";

const path = "/gateway/:session/telemetry/stream";

const one = (value: unknown): string => (typeof value === "string" ? value : "");

const authorize = async (request: Request, { services }: AppDeps): Promise<SessionByToken> => {
  const asked = { sessionId: one(request.params.session), token: one(request.query.jwt) };
  try {
    return await sessionByToken(asked, services);
  } catch (error) {
    throw error instanceof AppError ? failedToken(request, services, error) : error;
  }
};

/** Serves GET of that path. */
export const mountSessionStream = (app: Express, deps: AppDeps): void => {
  app.get(path, async (request, response) => {
    setRoute(response, "/gateway/{session}/telemetry/stream");
    const { projectId, ...found } = await authorize(request, deps);
    const { session } = found.lease;
    whenClosed(response, deps.services.callerLimits.enterStream({ keyId: `session/${session}`, projectId }));
    const gone = new AbortController();
    whenClosed(response, () => gone.abort(callerGone()));
    const signal = AbortSignal.any([gone.signal, deps.stopping, deps.draining]);
    const asked = { lastEventId: request.get("last-event-id"), replay: one(request.query.replay) };
    if (request.method === "HEAD") {
      response.set(eventHeaders).end();
      return;
    }
    const events = await telemetryEvents(found, asked, deps.services, signal);
    await sendEvents(response, events, { signal, requireAllowed: () => undefined, log: logOf(response) });
  });
};
