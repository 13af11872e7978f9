import express, { type Express, type RequestHandler } from "express";
import { AppError } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import { traceHeaders, traceIn } from "../../platform/tracing/trace-context.ts";
import { anotherProduct } from "../http/another-product.ts";
import type { AppDeps, HttpServices } from "../http/app-deps.ts";
import { newFacts, noteRoute, recordCall } from "../http/audit-call.ts";
import { clientAddress } from "../http/client-address.ts";
import { ignoredFields } from "../http/ignored-fields.ts";
import { allowOrigins } from "../http/middleware/cors.ts";
import { answerError, asAppError } from "../http/middleware/error-answer.ts";
import { baseUrlOf, checkHost, isLoopback } from "../http/middleware/host-check.ts";
import { nestQuery, validate } from "../http/middleware/validate.ts";
import { mountLiveness, mountMetrics, mountReadiness } from "../http/ops/ops-app.ts";
import { createPartRouters } from "../http/part-routers.ts";
import {
  factsOf,
  ignoredOf,
  logOf,
  requestIdOf,
  routeOf,
  setArrival,
  setFacts,
  setIgnored,
  setLog,
  setRoute,
} from "../http/request-locals.ts";
import type { Method, Route } from "../http/route.ts";
import { readGiven, send, serveRoute } from "../http/serve-route.ts";
import { eventHeaders, sendEvents } from "../http/sse.ts";
import { untilClosed } from "../http/until-closed.ts";
import { mountDocs, mountOpenApi } from "./docs.ts";
import type { Feature } from "./feature.ts";
import { authorize, callerOf, enterCall, queryToken } from "./session-caller.ts";

// Operations of a session that are served in two places: at `/browsers/{id_or_name}/…` for a key, and below the
// session's `base_url` for its token, where the public clients ask for them once they know the session. Who has the
// token has the browser, and so may see what it does.

/** What precedes the name of the operation in both places. */
const atApi = "/browsers/{id_or_name}/";
const atSession = "/gateway/:session/";

const expressPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** Serves the calls of `routes` to what is beside a session's browser. */
const mountSessionCalls = (app: Express, routes: readonly Route[], deps: AppDeps): void => {
  for (const route of routes) {
    const { callOfSession, path, method } = route;
    if (!callOfSession) continue;
    const name = path.slice(atApi.length);
    app[method](`${atSession}${expressPath(name)}`, async (request, response) => {
      setRoute(response, `/gateway/{session}/${name}`);
      const found = await authorize(request, queryToken(request), deps);
      const caller = callerOf(found);
      const { callerLimits } = deps.services;
      const signal = enterCall(response, caller, deps);
      const { jwt: _, ...query } = request.query;
      const params = { ...request.params, id_or_name: found.lease.session };
      const enter = () => callerLimits.enterUpload(caller);
      const given = await readGiven(request, response, { route, signal, enter }, { params, query });
      const baseUrl = baseUrlOf(request.headers, deps.services.config);
      const answer = await callOfSession(found, { ...given, baseUrl }, deps.services, signal);
      const isRead = method === "get";
      const enterAnswer = (bytes: number) => callerLimits.enterAnswer(caller, bytes, isRead);
      await send(
        { response, signal, requireAllowed: () => undefined, enter: enterAnswer, log: logOf(response) },
        answer,
      );
    });
  }
};

/** Serves the streams of `routes` that are of a session. */
const mountSessionRoutes = (app: Express, routes: readonly Route[], deps: AppDeps): void => {
  for (const { path, query: schema, streamOfSession } of routes) {
    if (!streamOfSession) continue;
    const name = path.slice(atApi.length);
    app.get(`${atSession}${expressPath(name)}`, async (request, response) => {
      setRoute(response, `/gateway/{session}/${name}`);
      const found = await authorize(request, queryToken(request), deps);
      const { callerLimits } = deps.services;
      whenClosed(response, callerLimits.enterStream(callerOf(found)));
      const signal = untilClosed(response, deps.stopping, deps.draining);
      const { jwt: _, ...given } = request.query;
      const nested = schema ? nestQuery(given, schema) : given;
      setIgnored(response, ignoredFields({ query: schema }, { body: undefined, query: nested }));
      const query = schema && validate(schema, nested);
      if (request.method === "HEAD") {
        response.set(eventHeaders).end();
        return;
      }
      const asked = {
        params: request.params as Record<string, string>,
        query,
        lastEventId: request.get("last-event-id"),
      };
      const events = await streamOfSession(found, asked, deps.services, signal);
      await sendEvents(response, events, { signal, requireAllowed: () => undefined, log: logOf(response) });
    });
  }
};

/** What answers have that say nothing else of it: they are for one caller, who may have them in a web browser. */
const usualHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };

/**
 * Gives each request an id, a logger that carries it, a log line, a measurement, and an audit line where one is due.
 */
const observe =
  ({ services: { metrics, config, tracer }, audit, log }: AppDeps): RequestHandler =>
  (request, response, next) => {
    const parent = tracer && traceIn(request.headers);
    const span = tracer?.begin({ name: request.method, kind: "server", parent });
    const requestId = requestIdOf(request.headers);
    const facts = newFacts({ request_id: requestId, address: clientAddress(request, config), method: request.method });
    setFacts(response, facts);
    const startMs = performance.now();
    setArrival(response, startMs);
    response.set({ "X-Request-Id": requestId, ...usualHeaders });
    if (span) response.set(traceHeaders(span.context));
    const { traceId, spanId } = span?.context ?? {};
    const requestLog = log.child({ request_id: requestId, ...(span && { trace_id: traceId, span_id: spanId }) });
    setLog(response, requestLog);
    response.on("close", () => {
      const seconds = (performance.now() - startMs) / 1000;
      const route = routeOf(response) ?? "none";
      const { method } = request;
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.requests.observe({ method, route, status: String(status) }, seconds);
      const ms = Math.round(seconds * 1e5) / 100;
      const ignored = ignoredOf(response);
      requestLog.info({ method, route, status, ms, ...(ignored && { ignored }) }, "request");
      span?.end({
        name: `${method} ${route}`,
        attributes: { "http.request.method": method, "http.route": route, "http.response.status_code": status },
        failed: status >= 500,
      });
      if (!facts.isHeld) recordCall(audit, facts, status);
    });
    if (tracer && span) tracer.within(span, next);
    else next();
  };

const mountRoutes = (app: Express, routes: readonly Route[], deps: AppDeps): void => {
  const methods = new Map<string, Method[]>();
  const parts = createPartRouters();
  for (const route of routes) {
    methods.set(route.path, [...(methods.get(route.path) ?? []), route.method]);
    const serve = serveRoute(route, deps);
    parts.at(route.path)[route.method](expressPath(route.path), (request, response, next) => {
      setRoute(response, route.path);
      noteRoute(factsOf(response), route);
      return serve(request, response, next);
    });
  }
  for (const [path, allowed] of methods)
    parts.at(path).all(expressPath(path), (request, response) => {
      const list = allowed.map((method) => method.toUpperCase()).join(", ");
      response.set("Allow", list);
      throw new AppError("method_not_allowed", `${request.method} is not possible here; use ${list}`);
    });
  app.use(parts.serve);
};

/** What the API serves. */
type Served<Services> = {
  routes: readonly Route<Services>[];
  features: readonly Pick<Feature<Services>, "mount" | "mountOps">[];
};

/** Makes the HTTP API; the caller lets a server listen. */
export const createApp = <Services extends HttpServices>(
  { routes, features }: Served<Services>,
  deps: AppDeps<Services>,
): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.set("query parser", "simple");
  app.use(observe(deps));
  app.use((request, _response, next) => {
    checkHost(request.headers, deps.services.config);
    next();
  });
  app.use(allowOrigins(deps.services.config, [...new Set(routes.map(({ method }) => method.toUpperCase()))]));
  mountRoutes(app, routes, deps);
  mountLiveness(app);
  if (deps.services.config.opsPort === undefined) {
    mountReadiness(app, deps.health);
    mountMetrics(app, deps.registry);
    mountDocs(app, routes);
    if (isLoopback(deps.services.config.host))
      for (const { mountOps } of features) mountOps?.(app, () => deps.services);
  } else mountOpenApi(app, routes);
  mountSessionRoutes(app, routes, deps);
  mountSessionCalls(app, routes, deps);
  for (const { mount } of features) mount?.(app, deps);
  app.use((request) => {
    throw (
      anotherProduct(request.path) ??
      new AppError("not_found", `there is nothing at ${request.method} ${request.path.slice(0, 200)}`)
    );
  });
  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    const log = logOf(response) ?? deps.log;
    // Express' own errors about requests (a malformed %-escape in the path) have a status below 500; anything may be
    // thrown, so the field is optional.
    const { status } = error as { status?: number };
    const known = !(error instanceof AppError) && status !== undefined && status < 500;
    const answered = known ? new AppError("bad_request", "the request is malformed") : asAppError(error, log);
    factsOf(response).code = answered.code;
    answerError(response, answered);
  });
  return app;
};
