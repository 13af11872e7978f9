/**
 * Checks whether the profile of a connection is still logged in: a browser with the profile opens a page, types nothing and keeps
 * nothing. Undefined when the page does not say.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import { type AuthConnection, postLoginUrlOf } from "../connections/auth-connection.ts";
import {
  connectLoginBrowser,
  endLoginBrowser,
  findLoginSession,
  type LoginBrowserDeps,
  openPage,
  startLoginBrowser,
  withSurvey,
} from "./login-browser.ts";
import { newMemory } from "./reading/login-memory.ts";
import { sessionSeen } from "./reading/next-step.ts";
import { readLoginPage } from "./reading/read-login-page.ts";

/** For the page to show what it is, ms. */
const pageMs = 20_000;

/** For a whole check, ms. */
export const checkMs = 120_000;

const lookMs = 300;

/** The page that tells whether the profile is logged in; undefined: there is none. */
export const checkedPage = (connection: AuthConnection): { url: string; isLoginPage: boolean } | undefined => {
  const { loginUrl } = connection.spec;
  const inside = postLoginUrlOf(connection);
  if (inside !== undefined && inside !== loginUrl) return { url: inside, isLoginPage: false };
  return loginUrl === undefined ? undefined : { url: loginUrl, isLoginPage: true };
};

const seenIn = async (
  session: string,
  { page: { url, isLoginPage }, project }: { page: { url: string; isLoginPage: boolean }; project: Project },
  deps: LoginBrowserDeps,
  signal: AbortSignal,
): Promise<boolean | undefined> => {
  const found = await findLoginSession(session, project, deps);
  if (!found) return undefined;
  await using cdp = await connectLoginBrowser(found.lease, deps, signal);
  if (!(await openPage(cdp, url))) return undefined;
  const memory = newMemory(url, performance.now());
  const untilMs = performance.now() + pageMs;
  while (performance.now() < untilMs) {
    const seen = await withSurvey(cdp, async ({ frames }) => {
      const page = readLoginPage(frames, () => true);
      return sessionSeen({ page, memory, nowMs: performance.now() }, url, isLoginPage);
    }).catch(() => undefined);
    if (seen !== undefined) return seen;
    await sleep(lookMs, undefined, { signal });
  }
  return undefined;
};

/** What a check has found. `isLoggedIn`: undefined when it does not know. */
export type LoginCheck = { isLoggedIn: boolean | undefined; session: string | undefined };

/** One check; it never rejects but when `signal` is aborted. */
export const checkLogin = async (
  connection: AuthConnection,
  project: Project,
  deps: LoginBrowserDeps,
  signal: AbortSignal,
): Promise<LoginCheck> => {
  const page = checkedPage(connection);
  if (!page) return { isLoggedIn: undefined, session: undefined };
  const over = AbortSignal.any([signal, AbortSignal.timeout(checkMs)]);
  let session: string | undefined;
  try {
    session = await startLoginBrowser({ connection, project, keeps: false, limitMs: checkMs }, deps, over);
    return { isLoggedIn: await seenIn(session, { page, project }, deps, over), session };
  } catch (error) {
    signal.throwIfAborted();
    const code = error instanceof AppError ? error.code : (error as Error).name;
    deps.log.warn({ connection: connection.metadata.name, code }, "a login could not be checked");
    return { isLoggedIn: undefined, session };
  } finally {
    if (session !== undefined) await endLoginBrowser(session, project, deps);
  }
};
