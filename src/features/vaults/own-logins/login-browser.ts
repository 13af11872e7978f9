/** The browser of a login: it starts with the connection's profile, and its state is kept only if the login succeeds. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LeaseStore } from "../../../core/leases/lease-store.ts";
import type { AnyLease } from "../../../core/leases/records.ts";
import { type Browser, browserKind, heldSaveAnnotation } from "../../../core/model/browsers/browser.ts";
import { CreateBrowser } from "../../../core/model/browsers/browser-wire.ts";
import { isSaveSettled } from "../../../core/pools/on-demand/save-condition.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { type CreateDeps, createBrowser } from "../../../core/sessions/create-browser.ts";
import { type FindSessionDeps, type FoundSession, findSession } from "../../../core/sessions/find-session.ts";
import { type EndSessionDeps, endSession } from "../../../core/sessions/release-browser.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { type CdpConnection, connectCdp } from "../../../platform/cdp/cdp-connection.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { type DevToolsDeps, devToolsOf } from "../fill/attached-browser.ts";
import { type PageSurvey, surveyPage } from "../fill/page-survey.ts";

export type LoginBrowserDeps = CreateDeps &
  FindSessionDeps &
  EndSessionDeps &
  DevToolsDeps & { kube: Kube; log: Logger; store: LeaseStore };

/** Without a client for this long it ends by itself, s: then no replica drives the login any more. */
const idleSeconds = 60;

/** The tag with the connection that a browser logs in. */
const loginTag = "browserpool.dev/login";

/** What a browser may outlive its login by, s. */
const spareSeconds = 120;

/** Starts a browser; returns its session. `keeps`: whether its state may become the profile's. */
export const startLoginBrowser = async (
  {
    connection,
    project,
    keeps,
    limitMs,
  }: { connection: AuthConnection; project: Project; keeps: boolean; limitMs: number },
  deps: LoginBrowserDeps,
  signal: AbortSignal,
): Promise<string> => {
  const request = CreateBrowser.parse({
    headless: deps.config.hasHeadlessLogins,
    profile: { name: connection.spec.profileName, save_changes: keeps },
    timeout_seconds: idleSeconds,
    max_session_seconds: Math.ceil(limitMs / 1000) + spareSeconds,
    tags: { [loginTag]: connection.metadata.name },
  });
  const { session } = await createBrowser({ request, project, baseUrl: "", forLogin: true }, deps, signal);
  return session.session_id;
};

/** The lease of a login's session; undefined when it has ended. */
export const findLoginSession = async (
  session: string,
  project: Project,
  deps: FindSessionDeps,
): Promise<FoundSession | undefined> => {
  try {
    return await findSession(session, { project }, deps);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
};

/** Ends a login's session; its browser's state is thrown away if nobody has wanted it. Never rejects. */
export const endLoginBrowser = async (session: string, project: Project, deps: LoginBrowserDeps): Promise<void> => {
  try {
    const found = await findLoginSession(session, project, deps);
    if (found) await endSession({ poolUid: found.poolUid, session, reuse: "none", reason: "deleted" }, deps);
  } catch (err) {
    // It ends by itself when nobody has been connected for a while.
    deps.log.warn({ err, session_id: session }, "the browser of a login could not be ended");
  }
};

/**
 * Ends the browsers that a replica has started for a login of this connection and could tell nobody of, those of checks left
 * out. Else they would end by themselves, but after a minute.
 */
export const endUntoldBrowsers = async (
  connection: AuthConnection,
  project: Project,
  deps: LoginBrowserDeps,
): Promise<void> => {
  const untold = deps.browsers
    .list()
    .filter(
      ({ metadata: { namespace }, spec: { tags, profile } }) =>
        namespace === project.namespace && tags?.[loginTag] === connection.metadata.name && profile?.saveChanges,
    );
  for (const { metadata } of untold) {
    await endLoginBrowser(metadata.name, project, deps);
    // One that has no session yet.
    await deps.kube.delete(browserKind, metadata, { uid: metadata.uid }).catch(() => undefined);
  }
};

/** Between two looks at a browser's status, ms; longest waits for the operator's word, and for a save. */
const lookMs = 200;
const wordMs = 15_000;
const saveMs = 120_000;

const untilStatus = async (
  ref: { namespace: string; name: string },
  isThere: (browser: Browser) => boolean,
  { withinMs, deps: { kube }, signal }: { withinMs: number; deps: { kube: Kube }; signal: AbortSignal },
): Promise<Browser | undefined> => {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const browser = await kube.get(browserKind, ref);
    if (!browser || isThere(browser)) return browser;
    if (performance.now() > untilMs) return undefined;
    await sleep(lookMs, undefined, { signal });
  }
};

const saveReason = ({ status }: Browser): string | undefined =>
  status?.conditions.find(({ type }) => type === "ProfileSaved")?.reason;

/**
 * Ends a login's session and makes its browser's state the profile's. Whether the profile has it now, or a newer one.
 */
export const keepLoginBrowser = async (
  session: string,
  project: Project,
  deps: LoginBrowserDeps,
  signal: AbortSignal,
): Promise<boolean> => {
  const ref = { namespace: project.namespace, name: session };
  if (!(await deps.kube.get(browserKind, ref))) return false;
  await deps.kube.patch(browserKind, ref, { metadata: { annotations: { [heldSaveAnnotation]: null } } });
  // The operator must know before the browser ends, or it would throw the state away.
  const known = await untilStatus(ref, (one) => saveReason(one) === "AtEnd" || isSaveSettled(one), {
    withinMs: wordMs,
    deps,
    signal,
  });
  await endLoginBrowser(session, project, deps);
  if (!known) return false;
  const saved = await untilStatus(ref, isSaveSettled, { withinMs: saveMs, deps, signal });
  return saved !== undefined && ["Saved", "Superseded"].includes(saveReason(saved) ?? "");
};

/** A browser's DevTools, as a client of the session. */
export const connectLoginBrowser = async (
  lease: AnyLease,
  deps: DevToolsDeps,
  signal: AbortSignal,
): Promise<CdpConnection> => connectCdp(await devToolsOf(lease, deps, { purpose: undefined }), signal);

const ownPages = /^(?:chrome|chrome-untrusted|chrome-extension|devtools):/;

/** Longest answer of a page to one question, ms: one that shows a dialog gives none. */
const pageMs = 10_000;

/** The page that a login is in: a window that another one has opened, else the first. */
const attachToPage = async (cdp: CdpConnection): Promise<string | undefined> => {
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  const pages = targetInfos.filter(
    ({ type, subtype, url }) => type === "page" && subtype === undefined && !ownPages.test(url),
  );
  const page = pages.find(({ openerId }) => openerId !== undefined) ?? pages[0];
  if (!page) return undefined;
  return (await cdp.send("Target.attachToTarget", { targetId: page.targetId, flatten: true })).sessionId;
};

const detach = (cdp: CdpConnection, sessionId: string): void =>
  void cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);

/** Calls `work` with what the page shows; undefined when it shows nothing now, or takes too long. */
export const withSurvey = async <T>(
  cdp: CdpConnection,
  work: (survey: PageSurvey) => Promise<T>,
): Promise<T | undefined> => {
  const sessionId = await attachToPage(cdp);
  if (sessionId === undefined) return undefined;
  // A page that is detached from answers nothing more: what waits for it is rejected.
  const timer = setTimeout(() => detach(cdp, sessionId), pageMs);
  try {
    const survey = await surveyPage(cdp, sessionId);
    clearTimeout(timer);
    return survey && (await work(survey));
  } finally {
    clearTimeout(timer);
    detach(cdp, sessionId);
  }
};

/** Opens a page in the browser; false when there is no answer from the site. */
export const openPage = async (cdp: CdpConnection, url: string): Promise<boolean> => {
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  const page = targetInfos.find(({ type }) => type === "page");
  const targetId = page?.targetId ?? (await cdp.send("Target.createTarget", { url: "about:blank" })).targetId;
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  try {
    const { errorText } = await cdp.send("Page.navigate", { url }, { sessionId, timeoutMs: 30_000 });
    return errorText === undefined || errorText === "net::ERR_ABORTED";
  } finally {
    detach(cdp, sessionId);
  }
};
