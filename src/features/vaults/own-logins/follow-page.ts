/** Looks at the page of a login again and again, until the login is over or another replica drives it. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../platform/base/errors.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpClosed, CdpRefused, CdpTimeout } from "../../../platform/cdp/cdp-errors.ts";
import { fetchConnection } from "../connections/connections.ts";
import { act, takeSubmitted } from "./act.ts";
import { type Drive, isAllowed, NotMine, write } from "./drive.ts";
import { isOver } from "./flow.ts";
import { connectLoginBrowser, findLoginSession, openPage, withSurvey } from "./login-browser.ts";
import { hasTotp, sourceOf } from "./login-values.ts";
import { Ended, failed } from "./outcome.ts";
import { nextStep } from "./reading/next-step.ts";
import { readLoginPage } from "./reading/read-login-page.ts";
import { isHostOf } from "./rules/allowed-pages.ts";

/** Between two looks at the page, ms. */
const lookMs = 300;

/** Between two looks whether the connection is still there, ms. */
const confirmMs = 5000;

/** Whether the connection is still there, and the same one. */
const requireConnection = async ({ connection, flow, project, deps }: Drive): Promise<void> => {
  try {
    const now = await fetchConnection(flow.connectionId, project, deps);
    if (now.metadata.uid === connection.metadata.uid && !now.metadata.deletionTimestamp) return;
  } catch (error) {
    if (!(error instanceof AppError && error.code === "not_found")) return;
  }
  throw new Ended("CANCELED");
};

const isPageTrouble = (error: unknown): boolean => error instanceof CdpRefused || error instanceof CdpTimeout;

const lookOnce = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  const { memory, deps, flow } = drive;
  await withSurvey(cdp, async (survey) => {
    const page = readLoginPage(survey.frames, isAllowed(drive));
    const look = { survey, page };
    const submitted = deps.inbox.take(flow);
    if (submitted) await takeSubmitted(drive, look, submitted);
    if (submitted?.choice) return;
    const step = nextStep({
      page,
      memory,
      nowMs: performance.now(),
      hasTotp: hasTotp(drive),
      ssoProvider: drive.stored.ssoProvider,
      sourceOf: sourceOf(drive),
      isAllowed: isAllowed(drive),
      isHome: (origin) => isHostOf(URL.parse(origin)?.hostname ?? "", { domain: drive.connection.spec.domain }),
    });
    await act(drive, look, step);
  }).catch((error: unknown) => {
    // The page has gone on meanwhile.
    if (!isPageTrouble(error)) throw error;
  });
};

/** Follows the flow that others write: a caller's values, or another replica that goes on with it. */
const confirmMine = async (drive: Drive): Promise<void> => {
  const now = await drive.deps.flows.read(drive.uid);
  if (!now || now.id !== drive.flow.id || isOver(now) || now.driver !== drive.deps.replica) throw new NotMine();
  drive.flow = now;
};

const followPage = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  let confirmedMs = performance.now();
  for (;;) {
    drive.signal.throwIfAborted();
    if (Date.now() >= drive.flow.expiresMs) throw new Ended("EXPIRED");
    await confirmMine(drive);
    if (performance.now() - confirmedMs > confirmMs) {
      await requireConnection(drive);
      confirmedMs = performance.now();
    }
    if (!cdp.isOpen()) throw new CdpClosed("the connection is closed");
    await lookOnce(drive, cdp);
    await sleep(lookMs, undefined, { signal: drive.signal });
  }
};

/** Opens the page where the login begins, once. */
const begin = async (drive: Drive, cdp: CdpConnection): Promise<void> => {
  if (drive.flow.isOpen) return;
  const isReached = await openPage(cdp, drive.connection.spec.loginUrl ?? "").catch((error: unknown) => {
    if (isPageTrouble(error)) return false;
    throw error;
  });
  if (!isReached) throw failed("site_not_reached");
  await write(drive, { isOpen: true });
};

/** Connections that one login makes to its browser at most. */
const mostConnections = 5;

/** Follows the page of a login in its browser; throws `Ended` and `NotMine`. */
export const follow = async (drive: Drive): Promise<never> => {
  const { deps, project, signal } = drive;
  for (let tries = 0; tries < mostConnections; tries += 1) {
    const found = await findLoginSession(drive.flow.session ?? "", project, deps);
    if (!found) break;
    try {
      await using cdp = await connectLoginBrowser(found.lease, deps, signal);
      await begin(drive, cdp);
      await followPage(drive, cdp);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CdpClosed) && !isPageTrouble(error)) throw error;
      await sleep(lookMs, undefined, { signal });
    }
  }
  throw failed("browser_ended");
};
