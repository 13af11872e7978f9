/**
 * The hosted login: a person types the login of a connection into a page of this service, which stores it in a Secret.
 *
 *   GET  /login/{project}/{connection}#code ──► code page
 *   POST /login/{project}/{connection}      code ──exchange, once──► cookie ──► 303
 *   GET  /login/{project}/{connection}/form ──► form with the fields of the domain
 *   POST /login/{project}/{connection}/form fields, token ──► stored, cookie cleared ──► 303
 *   GET  /login/{project}/{connection}/done ──► thank-you page
 *
 * It needs no API key: the code gives the right to submit one login. No answer, log line or URL contains typed values.
 * It works without scripts.
 */
import { createHash, createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import type { Config } from "../../../core/config/config.ts";
import type { AppDeps } from "../../../core/http/app-deps.ts";
import { failedAttempt } from "../../../core/http/client-address.ts";
import { cookieOf } from "../../../core/http/cookie-of.ts";
import { asAppError, errorHeaders } from "../../../core/http/middleware/error-answer.ts";
import { baseUrlOf } from "../../../core/http/middleware/host-check.ts";
import { styleSheet } from "../../../core/http/pages/style-sheet.ts";
import { factsOf, logOf, setRoute } from "../../../core/http/request-locals.ts";
import type { CallerLimits } from "../../../core/projects/caller-limits.ts";
import type { Projects } from "../../../core/projects/projects.ts";
import type { FindSessionDeps } from "../../../core/sessions/find-session.ts";
import type { SessionAnswerDeps } from "../../../core/sessions/session-answer.ts";
import { AppError, httpStatus } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import {
  beginVisit,
  collectLogin,
  type LoginForm,
  type LoginPlace,
  type LoginVisit,
  type OwnLogin,
  readLoginForm,
  readOwnLogin,
  requireCode,
  requireVisitTicket,
} from "../connections/collect-login.ts";
import { liveViewOf } from "../connections/connections.ts";
import { CredentialValues } from "../credentials/credential.ts";
import { isOver, type LoginFlow } from "../own-logins/flow.ts";
import type { OwnLogins } from "../own-logins/own-logins.ts";
import { codePage, formPage, messagePage, ownLoginPage, script, style } from "./pages.ts";

/** `__Host-`: no other host and no other path can set or read the cookie, and plain HTTP only on loopback. */
const name = "__Host-browserpool_login";

const attributes = { httpOnly: true, secure: true, sameSite: "strict", path: "/" } as const;

/** The lifetime of a login link, ms. */
const lifetimeMs = 10 * 60 * 1000;

/** Sets the cookie of a visit; it replaces an earlier one. */
const setVisit = (response: Response, ticket: string): void =>
  void response.cookie(name, ticket, { ...attributes, maxAge: lifetimeMs });

/** Clears the cookie. */
const clearVisit = (response: Response): void => void response.clearCookie(name, attributes);

/** The ticket in the cookie, "" without a cookie. */
const visitOf = ({ headers }: Pick<Request, "headers">): string => cookieOf(headers, name) ?? "";

/**
 * The form's token. It can be made only with the cookie, and a page of another site can't read the form that contains
 * it.
 */
const csrfToken = (ticket: string): string => createHmac("sha256", ticket).update("csrf").digest("base64url");

/** Checks a form's token in constant time. */
const isCsrfToken = (ticket: string, given: string): boolean => {
  const [wanted, got] = [Buffer.from(csrfToken(ticket)), Buffer.from(given)];
  return wanted.length === got.length && timingSafeEqual(wanted, got);
};

type Services = SessionAnswerDeps &
  FindSessionDeps & {
    callerLimits: CallerLimits;
    config: Config;
    kube: Kube;
    locks: Locks;
    ownLogins: OwnLogins;
    projects: Projects;
    secretsKeys: SecretsKeys;
    signingKey: KeyObject;
  };

const place = "/login/:project/:connection";

/** `same-origin`, not `no-referrer`: with that, browsers would send forms with the Origin "null", which is refused. */
const headers = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Room for a code, as in a form. */
const maxCodeForm = "4kb";

/** Room for fifty values of the greatest length, escaped as in a form. */
const maxForm = "1mb";
const maxParameters = 128;

type Form = Record<string, unknown>;

const placeOf = ({ params }: Request): LoginPlace => ({
  projectId: String(params.project),
  connectionId: String(params.connection),
});
const visit = (request: Request): LoginVisit => ({ ...placeOf(request), ticket: visitOf(request) });
const text = (form: Form, name: string): string => (typeof form[name] === "string" ? form[name] : "");

/**
 * Refuses a request without a good ticket: no I/O was done for it, and it counts on the caller's address. A good ticket
 * works whatever others send from the same address, and has a bound of its own.
 */
const requireUse = (request: Request, ticket: string, check: () => number, services: Services): void => {
  try {
    check();
  } catch (error) {
    throw failedAttempt(request, services, error);
  }
  services.callerLimits.countTicket(createHash("sha256").update(ticket).digest("base64url"));
};

/** The title and text of the page for an error. */
const messageOf = ({ code }: AppError): [title: string, text: string] => {
  if (code === "forbidden")
    return ["This link is not good any more", "It was used, has expired, or was not copied whole. Ask for a new one."];
  if (code === "rate_limited") return ["Too many attempts", "Wait a minute and try again."];
  if (code === "unavailable") return ["Not now", "A part of the service does not answer. Try again in a moment."];
  return ["That did not work", "Go back and try again, or ask for a new link."];
};

const page = (response: Response, html: string, status = 200): void =>
  void response.status(status).set(headers).type("html").send(html);

/** What audit lines call a request of the login. */
const verbOf = ({ method }: Request, route: string): string => {
  if (method !== "POST") return "readLogin";
  return route === place ? "openLogin" : "submitLogin";
};

/** A handler that answers errors with pages too, and says in the audit stream what was handed in. */
const served =
  (route: string, handle: (request: Request, response: Response) => Promise<void>): RequestHandler =>
  async (request, response) => {
    setRoute(response, route);
    const facts = factsOf(response);
    facts.verb = verbOf(request, route);
    facts.object = route;
    facts.isAlways = request.method === "POST";
    try {
      await handle(request, response);
      // The ticket was good, so the place exists.
      const { projectId, connectionId } = placeOf(request);
      facts.project = projectId;
      facts.object = `/auth/connections/${connectionId}`;
      facts.route = route;
    } catch (error) {
      const known = asAppError(error, logOf(response));
      facts.code = known.code;
      response.set(errorHeaders(known));
      page(response, messagePage(...messageOf(known)), httpStatus[known.code]);
    }
  };

/** The values of the form's fields, and of one further field that the person named. */
const valuesOf = (form: Form, { fields }: LoginForm): Record<string, string> => {
  const asked = fields.map((field): [string, string] => [field, text(form, `value:${field}`)]);
  const extra = text(form, "extra_name").trim();
  return Object.fromEntries(extra ? [...asked, [extra, text(form, "extra_value")]] : asked);
};

/** What a login that is over comes to, for the person who was asked. */
const endOf = ({ status }: LoginFlow): [title: string, text: string] =>
  status === "SUCCESS"
    ? ["The browser is logged in", "You can close this page."]
    : ["The login has ended", "It did not succeed. Ask for a new link."];

const stateTexts: Record<LoginFlow["step"], string> = {
  DISCOVERING: "The page of the site is being opened.",
  SUBMITTING: "The login is under way.",
  AWAITING_INPUT: "The site asks for this. What you type goes into its page and is shown to nobody.",
  AWAITING_EXTERNAL_ACTION: "",
  COMPLETED: "",
};

/** How often the page of a login that waits for no values is loaded again, s. */
const refreshSeconds = 3;

/** Shows a login that the service does. */
const showOwnLogin = async (
  { request, response, problem }: { request: Request; response: Response; problem?: string },
  { flow, connection, project }: OwnLogin,
  services: Services,
): Promise<void> => {
  if (isOver(flow)) {
    clearVisit(response);
    return page(response, messagePage(...endOf(flow)));
  }
  const baseUrl = baseUrlOf(request.headers, services.config);
  const liveViewUrl = await liveViewOf(flow, { project, principal: undefined, baseUrl }, services);
  if (flow.step !== "AWAITING_INPUT") response.set("Refresh", String(refreshSeconds));
  const asked = {
    projectName: project.name,
    domain: connection.spec.domain,
    csrf: csrfToken(visitOf(request)),
    interactionId: flow.interactionId ?? "",
    fields: flow.fields,
    choices: flow.choices.filter(({ type }) => type !== "sso_provider"),
    ssoButtons: flow.choices.filter(({ type }) => type === "sso_provider"),
    text: flow.externalMessage ?? stateTexts[flow.step],
    liveViewUrl,
    ...(problem && { problem }),
  };
  page(response, ownLoginPage(asked), problem ? 400 : 200);
};

/** Hands in what a person has typed for a login that the service does. */
const submitOwnLogin = async (
  { request, response }: { request: Request; response: Response },
  own: OwnLogin,
  services: Services,
): Promise<void> => {
  const form: Form = request.body ?? {};
  const typed = own.flow.fields
    .map(({ id }): [string, string] => [id, text(form, `value:${id}`)])
    .filter(([, value]) => value !== "");
  const values = CredentialValues.safeParse(Object.fromEntries(typed));
  const choice = text(form, "choice");
  const submission = {
    interactionId: text(form, "interaction"),
    ...(typed.length > 0 && values.success && { values: values.data }),
    ...(choice && { choiceId: choice }),
  };
  try {
    await services.ownLogins.submit(own.connection, own.project, submission);
  } catch (error) {
    if (!(error instanceof AppError && (error.code === "bad_request" || error.code === "conflict"))) throw error;
    const problem = error.code === "conflict" ? "The site asks for something else by now." : "Something is missing.";
    return showOwnLogin({ request, response, problem }, own, services);
  }
  response.set(headers).redirect(303, "form");
};

/** Adds the routes of the login to `app`. They need no API key: the code and the cookie stand for the caller. */
export const mountLogin = (app: Express, { services }: AppDeps<Services>): void => {
  const codeForm = express.urlencoded({ extended: false, limit: maxCodeForm, parameterLimit: maxParameters });
  const form = express.urlencoded({ extended: false, limit: maxForm, parameterLimit: maxParameters });
  /** Comes before the form is read. */
  const requireVisitor: RequestHandler = (request, response, next) =>
    served(`${place}/form`, async () => {
      requireUse(request, visitOf(request), () => requireVisitTicket(visit(request), services), services);
      next();
    })(request, response, next);
  const ask = (response: Response, asked: LoginForm, ticket: string, problem?: string): void =>
    page(response, formPage({ ...asked, csrf: csrfToken(ticket), ...(problem && { problem }) }), problem ? 400 : 200);

  app.get("/login/page.css", (_request, response) => void response.set(headers).type("css").send(styleSheet(style)));
  app.get("/login/page.js", (_request, response) => void response.set(headers).type("js").send(script));
  app.get(
    place,
    served(place, async (_request, response) => page(response, codePage())),
  );
  app.post(
    place,
    codeForm,
    served(place, async (request, response) => {
      const code = text(request.body ?? {}, "code").trim();
      requireUse(request, code, () => requireCode({ ...placeOf(request), code }, services), services);
      setVisit(response, await beginVisit({ ...placeOf(request), code }, services));
      response.set(headers).redirect(303, `${request.path.replace(/\/$/, "")}/form`);
    }),
  );
  app.get(
    `${place}/form`,
    requireVisitor,
    served(`${place}/form`, async (request, response) => {
      const own = await readOwnLogin(visit(request), services);
      if (own) return showOwnLogin({ request, response }, own, services);
      ask(response, await readLoginForm(visit(request), services), visitOf(request));
    }),
  );
  app.post(
    `${place}/form`,
    requireVisitor,
    form,
    served(`${place}/form`, async (request, response) => {
      const ticket = visitOf(request);
      const own = await readOwnLogin(visit(request), services);
      if (!isCsrfToken(ticket, text(request.body ?? {}, "csrf")))
        throw new AppError("forbidden", "the form is not from this page");
      if (own) return submitOwnLogin({ request, response }, own, services);
      const asked = await readLoginForm(visit(request), services);
      const values = CredentialValues.safeParse(valuesOf(request.body ?? {}, asked));
      if (!values.success) return ask(response, asked, ticket, "A field's name is too long, or a value is.");
      await collectLogin(visit(request), values.data, services);
      clearVisit(response);
      response.set(headers).redirect(303, "done");
    }),
  );
  app.get(
    `${place}/done`,
    served(`${place}/done`, async (_request, response) =>
      page(
        response,
        messagePage(
          "The login is saved",
          "Programs of the project can have it typed now, and never get to see it. You can close this page.",
        ),
      ),
    ),
  );
};
