/**
 * Follows one navigation to its end, as a visit of an analysis does (visit-page.ts), and judges what the page shows.
 * It only looks: it runs no script in the page's own world, and turns on nothing that makes pages slower.
 *
 *   document ──loaded──► read ──quiet──► read ──may lead on──► wait ──► read
 *                          └────────────────┴──────────────────────────┴──► the last one that counts is the verdict
 *
 * Where the page itself leads on is followed. A holder who leaves the page or ends the session leaves the verdict as it
 * is.
 */

import { z } from "zod";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { type CdpSession, createListeners } from "../../../platform/cdp/cdp-sessions.ts";
import { noBodies, tell } from "../../../platform/cdp/commands.ts";
import { readPage } from "../visit/read-page.ts";
import { mayBeInterstitial } from "../visit/restrict-page.ts";
import { createWaits } from "../visit/until.ts";
import { wallError } from "../visit/wall-error.ts";
import { type PageWatch, watchPage } from "../visit/watch-page.ts";
import type { FirstNavigation } from "./first-navigation.ts";
import type { JudgeApart, Judged } from "./judge-apart.ts";

/** Has the page of this session tell its events; may be repeated. */
export const enableEvents = (cdp: Pick<CdpConnection, "send">, sessionId: string): void => {
  tell(cdp.send("Page.enable", undefined, { sessionId }));
  tell(cdp.send("Network.enable", noBodies, { sessionId }));
};

// The events of a navigation: what they tell of its page, which of the navigations after it are the page's own, and
// when its holder leaves.

/** Most navigations by the page itself. */
const maxLed = 20;

const OfFrame = z.object({ frameId: z.string() });
/** A click is the holder's more likely than the page's. */
const ByPage = OfFrame.extend({ reason: z.string().refine((reason) => reason !== "anchorClick") });
const Document = OfFrame.extend({ type: z.literal("Document"), redirectResponse: z.never().optional() });
const Answer = OfFrame.extend({
  type: z.literal("Document"),
  response: z.object({ url: z.string(), remoteIPAddress: z.string().optional() }),
});
const Detached = z.object({ sessionId: z.string() });

type WatchNavigationDeps = {
  /** Whether the site, at its address where the browser knows it, may be told of. */
  isPublic(address: string | undefined, url: string): boolean;
  /** Called when the page itself leads on: what it showed so far was not its end. */
  onLed(): void;
  /** Called when the page's new process does not tell its events: it was made while they were being enabled. */
  onSilent(): void;
  /** Called when nothing more can be learned: `isPrivate`: and nothing may be told. */
  onLeft(how: { isPrivate: boolean }): void;
};

type WatchedNavigation = {
  watch: PageWatch;
  /** To be called with every event, first the event that began the navigation, until `onLeft`. */
  take(event: CdpEvent): void;
};

/** Watches from the next event on. */
export const watchNavigation = (
  { page, frame, target }: FirstNavigation,
  { isPublic, onLed, onSilent, onLeft }: WatchNavigationDeps,
): WatchedNavigation => {
  const { on, emit } = createListeners();
  const watch = watchPage({ on }, frame, target.normalized);
  watch.isNavigating = true;
  let isOver = false;
  let isLed = false;
  let isAnswered = false;
  let led = 0;

  const leave = (isPrivate: boolean): void => {
    isOver = true;
    onLeft({ isPrivate });
  };
  const isMain = (schema: z.ZodType<{ frameId: string }>, params: unknown): boolean =>
    schema.safeParse(params).data?.frameId === frame;
  const begin = (): void => {
    isAnswered = false;
    if (watch.navigations === 0) return;
    led += 1;
    // What its holder navigates to is none of ours.
    if (!isLed || led > maxLed) leave(false);
    else onLed();
    isLed = false;
  };
  /** The browser's own process says so, whatever the page's process tells. */
  const stopped = (): void => {
    if (!isAnswered || !watch.isNavigating) return;
    onSilent();
    emit("Page.frameNavigated", { frame: { id: frame, url: watch.url } });
    emit("Page.loadEventFired", {});
  };
  const own: Record<string, ((params: unknown) => void) | undefined> = {
    "Page.frameRequestedNavigation": (params) => {
      if (isMain(ByPage, params)) isLed = true;
    },
    "Page.frameStoppedLoading": (params) => {
      if (isMain(OfFrame, params)) stopped();
    },
    "Network.requestWillBeSent": (params) => {
      if (isMain(Document, params)) begin();
    },
    "Network.responseReceived": (params) => {
      const { data } = Answer.safeParse(params);
      if (data?.frameId !== frame) return;
      isAnswered = true;
      if (!isPublic(data.response.remoteIPAddress, data.response.url)) leave(true);
    },
  };
  return {
    watch,
    take({ method, params, sessionId }) {
      if (method === "Target.detachedFromTarget" && Detached.safeParse(params).data?.sessionId === page) leave(false);
      if (sessionId !== page || isOver) return;
      own[method]?.(params);
      if (!isOver) emit(method, params);
    },
  };
};

/** Time for all of it, ms. */
const followMs = 15_000;
/**
 * From a document to its `load` event, from then until it is quiet, and for a document that may lead on by itself, ms.
 */
const loadMs = 10_000;
const quietMs = 3000;
const patienceMs = 6000;
/** Time for one reading, ms: a page that keeps its main thread busy answers none. */
const answerMs = 3000;

export type Verdict = "accessed" | "blocked";

type FollowDeps = Pick<WatchNavigationDeps, "isPublic"> &
  Pick<JudgeApart, "judge"> & {
    cdp: Pick<CdpConnection, "send">;
    /** Called with each verdict that takes the place of the one before; undefined: there is none. */
    note(verdict: Verdict | undefined): void;
  };

type Looked = { judged: Judged; leads: boolean };

/**
 * `take`: to be called with every event, first the event that began the navigation. `over`: resolves when there is
 * nothing more to wait for.
 */
export type FollowedNavigation = { take(event: CdpEvent): void; over: Promise<void> };

/** A verdict that holds if the holder leaves now: a check may still let the browser in. */
const holdsNow = ({ judged, leads }: Looked): boolean =>
  judged.verdict === "accessed" ? !leads : judged.reason !== "challenge";

/** Follows from the next event on. `signal`: the session has ended. */
export const followNavigation = (
  navigation: FirstNavigation,
  { cdp, judge, isPublic, note }: FollowDeps,
  signal: AbortSignal,
): FollowedNavigation => {
  const { page, frame, target, isPlain } = navigation;
  const left = new AbortController();
  const over = AbortSignal.any([signal, left.signal]);
  const tell = (judged: Judged | undefined): void => {
    const { verdict } = judged ?? {};
    note(isPlain() && verdict !== "inconclusive" ? verdict : undefined);
  };
  const { watch, take } = watchNavigation(navigation, {
    isPublic,
    onLed: () => tell(undefined),
    onSilent: () => enableEvents(cdp, page),
    onLeft({ isPrivate }) {
      if (isPrivate) tell(undefined);
      left.abort();
    },
  });
  const waits = createWaits(watch, over);
  const deadline = performance.now() + followMs;
  const within = (ms: number): number => Math.max(0, Math.min(ms, deadline - performance.now()));
  const commands: Pick<CdpSession, "send"> = {
    send: (method, ...[params]) => cdp.send(method, params as never, { sessionId: page }),
  };

  /** Undefined when the page can't be read, or goes meanwhile. */
  const look = async (): Promise<Looked | undefined> => {
    const { documents } = watch;
    const read = await waits.within(readPage(commands, frame), answerMs).catch(() => undefined);
    over.throwIfAborted();
    if (!read || documents !== watch.documents || watch.isNavigating) return undefined;
    const { status, headers, url, redirects } = watch;
    const error = watch.error ?? wallError(headers);
    const visit = { status, headers, url, redirects, ...read, frames: [...watch.frames], isBlank: undefined, error };
    return { leads: mayBeInterstitial(read, watch), judged: await judge({ visit, target }, over) };
  };
  /** Waits for a document; false when none comes. */
  const arrive = async (): Promise<boolean> => {
    const isHere = await waits.until(() => !watch.isNavigating, within(followMs));
    if (!isHere || watch.error) return false;
    await waits.until(() => watch.isLoaded || watch.isNavigating, within(loadMs));
    return true;
  };
  /** Reads a document that is there; whether the page is at its end. */
  const settle = async (): Promise<boolean> => {
    const early = await look();
    if (early) tell(holdsNow(early) ? early.judged : undefined);
    await waits.quiet(within(quietMs));
    const still = await look();
    if (!still) return within(1) === 0;
    if (still.leads && (await waits.until(() => watch.isNavigating, within(patienceMs)))) return false;
    const last = still.leads ? await look() : still;
    tell(last?.judged);
    return true;
  };
  const run = async (): Promise<void> => {
    while ((await arrive()) && !(await settle()));
  };
  return { take, over: run().catch(() => undefined) };
};
