import { awaitWith } from "../../../platform/base/retry.ts";
import type { CdpAddress } from "../../../platform/cdp/cdp-socket.ts";
import { askRobots } from "./ask-robots.ts";
import { type BrowserPage, connectBrowser } from "./connect-browser.ts";
import { readPage } from "./read-page.ts";
import { canNavigateItself, type Guard, mayBeInterstitial, restrictPage } from "./restrict-page.ts";
import { type Screenshot, takeScreenshot } from "./take-screenshot.ts";
import { createWaits, TooLate, type Waits } from "./until.ts";
import { answerMs, defaultLimits, maxNavigations, maxSeenItems, type Visit, type VisitLimits } from "./visit.ts";
import { tunnelError, wallError } from "./wall-error.ts";
import { type PageWatch, watchPage } from "./watch-page.ts";

/**
 * The events of a page may have this many times the bytes that it may load: what they say of a request is more than a
 * small answer.
 */
const eventsByBytes = 4;

/** Time in which a crash is told, ms. */
const crashToldMs = 500;

/**
 * `robotsAgent`: the name by which the site's robots.txt is asked; left out, it is not. `limits`: each that is left out
 * is the default. `hasProxy`: whether the browser goes through one, as it does if this is left out.
 */
export type VisitRequest = {
  connect: CdpAddress;
  url: string;
  limits?: Partial<VisitLimits>;
  robotsAgent?: string;
  hasProxy?: boolean;
};

/**
 * `screenshot`: WebP, of what the page showed at the end. `bytes`: came over the network, as far as the visit saw.
 * `ms`: its time.
 */
export type VisitResult = { visit: Visit; screenshot: Uint8Array | undefined; bytes: number; ms: number };

/** Why a visit has ended early. */
class VisitOver extends Error {
  readonly why: NonNullable<Visit["error"]>;
  constructor(why: NonNullable<Visit["error"]>) {
    super(why);
    this.why = why;
  }
}

type End = (why: NonNullable<Visit["error"]>) => void;

/** `end`: ends the visit. `over`: aborted then. `cut`: aborted when the connection must go at once. */
type Ends = { end: End; over: AbortSignal; cut: AbortSignal };

type Page = Pick<Visit, "title" | "text" | "markup">;

const noPage: Page = { title: "", text: "", markup: "" };

/** What a visit has seen so far. */
type Seen = { watch: PageWatch | undefined; guard: Guard | undefined; page: Page; shot: Screenshot | undefined };

type Run = {
  browserPage: BrowserPage;
  watch: PageWatch;
  waits: Waits;
  limits: VisitLimits;
  seen: Seen;
  over: AbortSignal;
  /** Until when pages are watched that may lead on; undefined before the first one. */
  patientUntil?: number;
};

/** Reads the page; false when its document went meanwhile. */
const read = async ({ browserPage: { page, id }, watch, waits, seen, over }: Run): Promise<boolean> => {
  const { documents } = watch;
  try {
    seen.page = await waits.within(readPage(page, id), answerMs);
    return true;
  } catch (error) {
    over.throwIfAborted();
    if (error instanceof TooLate) throw new VisitOver("TIMED_OUT");
    // What can't be read and stays where it is shows nothing.
    return documents === watch.documents && !watch.isNavigating;
  }
};

/**
 * Whether what was read may be a page on the way to another one: one that shows little, or a refusal, and can lead
 * anywhere.
 */
const canLeadOn = async ({ browserPage: { page }, watch, waits, seen, over }: Run): Promise<boolean> => {
  const { headers, request } = watch;
  if (!mayBeInterstitial(seen.page, watch)) return false;
  if (request === undefined || headers.refresh !== undefined) return true;
  try {
    const { body, base64Encoded } = await waits.within(
      page.send("Network.getResponseBody", { requestId: request }),
      answerMs,
    );
    return base64Encoded || canNavigateItself(body);
  } catch {
    over.throwIfAborted();
    // It was too large to be kept.
    return true;
  }
};

/** Waits until the main frame has a document and loads nothing more, or leaves it again. */
const arrive = async ({ watch, waits, limits }: Run): Promise<void> => {
  await waits.until(() => !watch.isNavigating);
  if (watch.error) return;
  await waits.until(() => watch.isLoaded || watch.isNavigating, limits.loadMs);
  if (!watch.isNavigating) await waits.quiet(limits.quietMs);
  if (watch.navigations > maxNavigations) throw new VisitOver("ERR_TOO_MANY_REDIRECTS");
};

/** Reads the page to which all leads; false when it leads on meanwhile. */
const isRead = async (run: Run): Promise<boolean> => {
  const { watch, waits, limits } = run;
  const { navigations } = watch;
  const leads = (): boolean => watch.isNavigating || watch.navigations > navigations;
  if (leads() || !(await read(run))) return false;
  if (!(await canLeadOn(run))) return !leads();
  // One that leads to itself again and again is taken as it is in the end.
  run.patientUntil ??= performance.now() + limits.patienceMs;
  const left = run.patientUntil - performance.now();
  return left <= 0 || (!(await waits.until(leads, left)) && read(run));
};

/** Follows the page to its end and reads it. */
const settle = async (run: Run): Promise<void> => {
  do {
    run.seen.page = noPage;
    await arrive(run);
  } while (!run.watch.error && !(await isRead(run)));
};

/**
 * Begins to navigate. Resolves with what Chromium makes of it, which may be later than the site's answer; most is seen
 * by the watch.
 */
const navigate = async ({ browserPage: { page }, watch }: Run, url: string, end: End): Promise<void> => {
  watch.isNavigating = true;
  const { errorText, isDownload } = await page.send("Page.navigate", { url });
  if (isDownload) return end("DOWNLOAD");
  // No request is made for some URLs.
  if (errorText !== undefined && watch.navigations === 0) watch.fail(errorText);
};

const run = async (request: VisitRequest, limits: VisitLimits, seen: Seen, { over, cut, end }: Ends): Promise<void> => {
  const browserPage = await connectBrowser(request.connect, limits.bytes * eventsByBytes, over, cut).catch(() => {
    over.throwIfAborted();
    throw new VisitOver("BROWSER_GONE");
  });
  await using _closed = browserPage;
  void browserPage.closed.then(({ isOverBounds }) => end(isOverBounds ? "TOO_LARGE" : "BROWSER_GONE"));
  const refusal =
    request.robotsAgent === undefined
      ? undefined
      : await awaitWith(askRobots(browserPage, request.url, request.robotsAgent), over);
  if (refusal) throw new VisitOver(refusal);
  const watch = watchPage(browserPage.page, browserPage.id, request.url);
  seen.watch = watch;
  seen.guard = await awaitWith(restrictPage(browserPage, watch, limits.bytes, end), over);
  const all: Run = { browserPage, watch, waits: createWaits(watch, over), limits, seen, over };
  const navigation = navigate(all, request.url, end);
  navigation.catch(() => undefined);
  await settle(all);
  // Only its answer says whether what was aborted is a download.
  if (watch.error) {
    await awaitWith(navigation, over);
    // A crash aborts the navigation, and is told after that.
    if (watch.error === "ERR_ABORTED") await all.waits.until(() => false, crashToldMs);
    return;
  }
  seen.shot = await all.waits.within(takeScreenshot(browserPage.page), answerMs).catch(() => {
    over.throwIfAborted();
    return undefined;
  });
};

const visitOf = (
  { watch, page, shot }: Seen,
  { url, hasProxy = true }: VisitRequest,
  error: Visit["error"],
): Visit => ({
  status: watch?.status,
  headers: watch?.headers ?? {},
  url: watch?.url ?? url,
  redirects: watch?.redirects ?? [],
  ...page,
  frames: [...(watch?.frames ?? [])].slice(0, maxSeenItems),
  isBlank: shot?.isBlank,
  error: tunnelError(error ?? watch?.error, hasProxy) ?? wallError(watch?.headers ?? {}),
});

/**
 * Visits a page once in a browser that its caller throws away afterwards: one GET of its URL, no form, no click, no
 * login. Whatever the site or the browser does becomes part of the visit. Rejects only when `signal` is aborted.
 * Afterwards the connection is closed.
 */
export const visitPage = async (request: VisitRequest, signal: AbortSignal): Promise<VisitResult> => {
  signal.throwIfAborted();
  const limits = { ...defaultLimits, ...request.limits };
  const started = performance.now();
  const over = new AbortController();
  const end: End = (why) => over.abort(new VisitOver(why));
  const abort = (): void => over.abort(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = setTimeout(() => end("TIMED_OUT"), limits.timeMs);
  const seen: Seen = { watch: undefined, guard: undefined, page: noPage, shot: undefined };
  let error: Visit["error"];
  try {
    await run(request, limits, seen, { end, over: over.signal, cut: signal });
  } catch (caught) {
    signal.throwIfAborted();
    // The connection that is closed afterwards gives no other reason.
    const why: unknown = caught instanceof VisitOver ? caught : over.signal.reason;
    error = why instanceof VisitOver ? why.why : "BROWSER_GONE";
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
  signal.throwIfAborted();
  const visit = visitOf(seen, request, error);
  return { visit, screenshot: seen.shot?.webp, bytes: seen.guard?.bytes ?? 0, ms: performance.now() - started };
};
