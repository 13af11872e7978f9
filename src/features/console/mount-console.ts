/**
 * The console: pages that show what the service has, by calling its API as the person who is signed in.
 *
 *   GET  /                        ──► a person: to the console; a program: name, version, links
 *   GET  /console/…               ──► one page for every address below, which chooses the view by it
 *   GET  /console/files/{file}    ──► its scripts and its style, which need no session
 *   POST /console/session         API key or code ──► cookie (core/http/console-session.ts)
 *   GET  /console/session         ──► who is signed in, what the key may do, and what of the service does not answer
 *   DELETE /console/session       ──► no cookie any more
 *   POST /console/codes           API key ──► a code that opens the console once, in the part of a URL behind `#`
 */
import { extname } from "node:path";
import type { Express, Request, RequestHandler, Response } from "express";
import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import type { Principal } from "../../core/api-keys/api-keys.ts";
import { viewApiKey } from "../../core/api-keys/list-api-keys.ts";
import type { AppDeps, HttpServices } from "../../core/http/app-deps.ts";
import { failedAttempt } from "../../core/http/client-address.ts";
import {
  consoleCookie,
  consoleCookieAttributes,
  consoleHeader,
  consoleSession,
  consoleSessionMs,
  isConsoleServed,
  isOfConsole,
  sealConsoleSession,
} from "../../core/http/console-session.ts";
import { html, htmlPage } from "../../core/http/html.ts";
import { authenticate } from "../../core/http/middleware/authenticate.ts";
import { parseBody } from "../../core/http/middleware/parse-body.ts";
import { validate } from "../../core/http/middleware/validate.ts";
import { factsOf, setRoute } from "../../core/http/request-locals.ts";
import { authenticated } from "../../core/http/serve-route.ts";
import { permissions } from "../../core/model/permission.ts";
import { AppError } from "../../platform/base/errors.ts";
import { whenClosed } from "../../platform/net/when-closed.ts";
import type { ConsoleCodes } from "./console-codes.ts";
import { consoleFiles } from "./console-files.ts";

type Services = HttpServices & { consoleCodes: ConsoleCodes };

/** `trusted-types 'none'`: no script makes HTML, scripts or their URLs of texts. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers = {
  "Content-Security-Policy": contentSecurityPolicy,
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "Cache-Control": "no-store",
};

/** Files are kept so long by browsers: their names say what is in them. */
const yearSeconds = 365 * 24 * 60 * 60;

const page = async (): Promise<string> => {
  const { entry, preload, style, icon } = await consoleFiles();
  const files = "/console/files";
  return htmlPage({
    title: "Browserpool",
    css: `${files}/${style}`,
    head: html`    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="${files}/${icon}" type="image/svg+xml">
${preload.map((name) => html`    <link rel="modulepreload" href="${files}/${name}">\n`)}    <script type="module" src="${files}/${entry}"></script>
`,
    body: html`    <div id="app"></div>
    <noscript><p>The console needs JavaScript. The command browserpool does without: browserpool --help.</p></noscript>
`,
  });
};

/** Of the two, one: the text of a key, or a code. */
const SignIn = z.union([
  z.strictObject({ api_key: z.string().min(1).max(256) }),
  z.strictObject({ code: z.string().min(1).max(256) }),
]);

const signInBytes = 4096;

/** Who signs in. Throws `unauthorized`. */
const signedIn = async (request: Request, response: Response, services: Services): Promise<Principal> => {
  const body = validate(SignIn, await parseBody(request, response, { bodyLimit: signInBytes }));
  if ("api_key" in body) return authenticate({ authorization: `Bearer ${body.api_key.trim()}` }, services);
  const keyId = await services.consoleCodes.use(body.code);
  const principal = keyId === undefined ? undefined : services.apiKeys.principal(keyId);
  if (!principal) throw new AppError("unauthorized", "this link was used, or is too old; sign in with an API key");
  return principal;
};

type Session = { principal: Principal; untilMs: number };

/** What the console's pages are told of the person who is signed in, and of the parts of the service that are away. */
const sessionAnswer = async (
  { principal, untilMs }: Session,
  { services, health }: Pick<AppDeps<Services>, "services" | "health">,
): Promise<object> => {
  const { apiKeys, projects, config } = services;
  const record = apiKeys.find(principal.keyId);
  const key = record && viewApiKey(record, { apiKeys, projects });
  const own = projects.find(principal.scope.kind === "project" ? principal.scope.projectId : config.defaultProject);
  return {
    key: { id: principal.keyId, name: key?.name ?? principal.keyId },
    permissions: permissions.filter((each) => principal.permissions.has(each)),
    scope: principal.scope.kind,
    project: own ? { id: own.id, name: own.name } : null,
    expires_at: new Date(untilMs).toISOString(),
    version: packageJson.version,
    away: Object.entries(await health.parts()).flatMap(([part, isUp]) => (isUp ? [] : [part])),
  };
};

/** Notes for the audit line whose request it is, and counts it. */
const note = (response: Response, principal: Principal, { callerLimits }: Services): void => {
  factsOf(response).key_id = principal.keyId;
  whenClosed(response, callerLimits.enter("key", principal.keyId));
};

const mountSession = (app: Express, deps: AppDeps<Services>): void => {
  const { services } = deps;
  const path = "/console/session";
  const { config } = services;
  /** `verb`: what audit lines call it; undefined: it has none. */
  const served =
    (verb: string | undefined, handle: (request: Request, response: Response) => Promise<void>): RequestHandler =>
    async (request, response, next) => {
      if (!isConsoleServed(request.headers, config)) return next();
      setRoute(response, path);
      const facts = factsOf(response);
      facts.object = path;
      if (verb !== undefined) Object.assign(facts, { verb, isAlways: true });
      response.set({ ...headers, Vary: `Cookie, ${consoleHeader}` });
      if (!isOfConsole(request.headers)) throw new AppError("forbidden", "only pages of the console may call this");
      await handle(request, response);
    };
  app.post(
    path,
    served("signInToConsole", async (request, response) => {
      const principal = await signedIn(request, response, services).catch((error: unknown) => {
        throw error instanceof AppError && error.code === "unauthorized"
          ? failedAttempt(request, services, error)
          : error;
      });
      note(response, principal, services);
      const untilMs = Date.now() + consoleSessionMs;
      const text = sealConsoleSession(principal, untilMs, services);
      response.cookie(consoleCookie(config), text, { ...consoleCookieAttributes(config), maxAge: consoleSessionMs });
      response.json(await sessionAnswer({ principal, untilMs }, deps));
    }),
  );
  app.get(
    path,
    served(undefined, async (request, response) => {
      const session = consoleSession(request.headers, services);
      if (!session) throw new AppError("unauthorized", "nobody is signed in");
      note(response, session.principal, services);
      response.json(await sessionAnswer(session, deps));
    }),
  );
  app.delete(
    path,
    served("signOutOfConsole", async (request, response) => {
      const session = consoleSession(request.headers, services);
      if (session) note(response, session.principal, services);
      response.clearCookie(consoleCookie(config), consoleCookieAttributes(config)).status(204).end();
    }),
  );
};

const mountCodes = (app: Express, services: Services): void => {
  app.post("/console/codes", async (request, response, next) => {
    if (!isConsoleServed(request.headers, services.config)) return next();
    setRoute(response, "/console/codes");
    Object.assign(factsOf(response), { verb: "makeConsoleCode", object: "/console/codes", isAlways: true });
    const principal = authenticated(request, services);
    note(response, principal, services);
    const { code, expiresAtMs } = await services.consoleCodes.make(principal.keyId);
    response.set("Cache-Control", "no-store");
    response.json({ code, expires_at: new Date(expiresAtMs).toISOString() });
  });
};

const mountFiles = (app: Express, { config }: Services): void => {
  app.get("/console/files/:file", async (request, response, next) => {
    if (!isConsoleServed(request.headers, config)) return next();
    setRoute(response, "/console/files/{file}");
    const { files } = await consoleFiles();
    const file = files.get(request.params.file);
    if (!file) throw new AppError("not_found", "the console has no such file; load its page again");
    response.set({ ...headers, "Cache-Control": `public, max-age=${yearSeconds}, immutable`, Vary: "Accept-Encoding" });
    response.type(extname(request.params.file));
    if (request.acceptsEncodings("br")) response.set("Content-Encoding", "br").send(file.brotli);
    else response.send(file.plain);
  });
};

const mountPage = (app: Express, { config }: Services): void => {
  app.get(["/console", "/console/*view"], async (request, response, next) => {
    if (!isConsoleServed(request.headers, config)) return next();
    setRoute(response, "/console");
    response
      .set(headers)
      .type("html")
      .send(await page());
  });
};

const mountRoot = (app: Express, { config }: Services): void => {
  app.get("/", (request, response) => {
    setRoute(response, "/");
    const hasConsole = isConsoleServed(request.headers, config);
    response.vary("Accept");
    if (hasConsole && request.accepts(["json", "html"]) === "html") {
      response.redirect(302, "/console");
      return;
    }
    const links = {
      openapi: "/openapi.json",
      ...(config.opsPort === undefined && { docs: "/docs" }),
      ...(hasConsole && { console: "/console" }),
    };
    response.json({ name: "browserpool", version: packageJson.version, links });
  });
};

/** Adds the console to `app`, where it is served. */
export const mountConsole = (app: Express, deps: AppDeps<Services>): void => {
  const { services } = deps;
  mountRoot(app, services);
  mountSession(app, deps);
  mountCodes(app, services);
  mountFiles(app, services);
  mountPage(app, services);
};
