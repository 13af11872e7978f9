/** The events of a navigation: what they tell of its page, which of the navigations after it are the page's own, and when its holder leaves. */
import { z } from "zod";
import type { CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import type { PageEvents } from "../visit/page-session.ts";
import { type PageWatch, watchPage } from "../visit/watch-page.ts";
import type { FirstNavigation } from "./first-navigation.ts";

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

export type WatchNavigationDeps = {
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
  /** To be called with every event, the one that began the navigation first, until `onLeft`. */
  take(event: CdpEvent): void;
};

/** Watches from the next event on. */
export const watchNavigation = (
  { page, frame, target }: FirstNavigation,
  { isPublic, onLed, onSilent, onLeft }: WatchNavigationDeps,
): WatchedNavigation => {
  const listeners = new Map<string, ((params: never) => void)[]>();
  const events: PageEvents = {
    on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
  };
  const watch = watchPage(events, frame, target.normalized);
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
  const emit = (method: string, params: object): void => {
    for (const listener of listeners.get(method) ?? []) listener(params as never);
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
      if (!isOver) emit(method, params as object);
    },
  };
};
