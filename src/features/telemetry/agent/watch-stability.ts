/**
 * When pages come to rest: their largest paint, what moves in them, and the quiet after it.
 *
 *   navigation ──► loaded ──► 1 s without a shift ──► layout settled ──► with its document parsed: navigation settled
 *                                  └─ a shift: the second begins anew
 */
import type { Protocol } from "../../../platform/cdp/cdp-types.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { Emit } from "./recorder.ts";
import { contextOf, hasDocument, type Source, type SourceDeps, shownUrl, type Tab } from "./source.ts";

/** Time without a shift after which a layout has settled, ms. */
const settledMs = 1000;

const event = { kind: "cdp", event: "PerformanceTimeline.timelineEventAdded" } as const;
const own = { kind: "local_process" } as const;

type TimelineEvent = Protocol.PerformanceTimeline.TimelineEvent;

const emitPaint = (emit: Emit, tab: Tab, { frameId, time, lcpDetails }: TimelineEvent): void => {
  const details = lcpDetails && {
    render_time: lcpDetails.renderTime * 1000,
    load_time: lcpDetails.loadTime * 1000,
    size: lcpDetails.size,
    element_id: lcpDetails.elementId,
    url: lcpDetails.url === undefined ? undefined : shownUrl(lcpDetails.url),
  };
  emit("page_lcp", { ...contextOf(tab), source_frame_id: frameId, time: time * 1000, lcp_details: details }, event);
};

const emitShift = (emit: Emit, tab: Tab, { frameId, time, duration = 0, layoutShiftDetails }: TimelineEvent): void => {
  const details = layoutShiftDetails && {
    value: layoutShiftDetails.value,
    had_recent_input: layoutShiftDetails.hadRecentInput,
  };
  const data = {
    source_frame_id: frameId,
    time: time * 1000,
    duration: duration * 1000,
    layout_shift_details: details,
  };
  emit("page_layout_shift", { ...contextOf(tab), ...data }, event);
};

/** Of one navigation of a tab. `timer`: runs after its load, until its layout has settled. */
type Rest = { isParsed: boolean; isSettled: boolean; timer?: NodeJS.Timeout };

/** Makes the events of the category `page` that tell how pages come to rest. */
export const watchStability = ({ cdp, emit }: SourceDeps): Source => {
  const rests = new Map<string, Rest>();
  const forget = ({ sessionId }: Pick<Tab, "sessionId">): void => {
    clearTimeout(rests.get(sessionId)?.timer);
    rests.delete(sessionId);
  };
  const tellRest = (tab: Tab, { isParsed, isSettled }: Rest): void => {
    if (isParsed && isSettled) emit("page_navigation_settled", contextOf(tab), own);
  };
  const settle = (tab: Tab, rest: Rest): void => {
    rest.isSettled = true;
    emit("page_layout_settled", contextOf(tab), own);
    tellRest(tab, rest);
  };
  return {
    enable({ sessionId }) {
      const eventTypes = ["largest-contentful-paint", "layout-shift"];
      tell(cdp.send("PerformanceTimeline.enable", { eventTypes }, { sessionId }));
    },
    forget,
    stop() {
      for (const sessionId of [...rests.keys()]) forget({ sessionId });
    },
    handlers: {
      "Page.frameNavigated": ({ frame }, tab) => {
        if (frame.parentId !== undefined) return;
        forget(tab);
        rests.set(tab.sessionId, { isParsed: false, isSettled: false });
      },
      "Page.domContentEventFired": (_params, tab) => {
        const rest = rests.get(tab.sessionId);
        if (!rest || rest.isParsed) return;
        rest.isParsed = true;
        tellRest(tab, rest);
      },
      "Page.loadEventFired": (_params, tab) => {
        const rest = rests.get(tab.sessionId);
        if (rest && !rest.isSettled) rest.timer ??= setTimeout(settle, settledMs, tab, rest);
      },
      "PerformanceTimeline.timelineEventAdded": ({ event: told }, tab) => {
        if (told.type === "largest-contentful-paint") emitPaint(emit, tab, told);
        if (told.type !== "layout-shift") return;
        emitShift(emit, tab, told);
        const rest = rests.get(tab.sessionId);
        if (!rest?.isSettled) rest?.timer?.refresh();
      },
    },
  };
};

/** Time without a request under way after which a page is idle, ms. */
const idleMs = 500;

/** Requests under way that are counted for one page. */
const mostOpen = 2000;

/** Makes the event of the category `network` that tells how pages come to rest; watch-network.ts enables what it hears. */
export const watchIdle = ({ emit }: SourceDeps): Source => {
  const tabs = new Map<string, { open: Set<string>; timer?: NodeJS.Timeout }>();
  const forget = ({ sessionId }: Pick<Tab, "sessionId">): void => {
    clearTimeout(tabs.get(sessionId)?.timer);
    tabs.delete(sessionId);
  };
  const end = ({ requestId }: { requestId: string }, tab: Tab): void => {
    const state = tabs.get(tab.sessionId);
    if (!state?.open.delete(requestId) || state.open.size > 0) return;
    state.timer = setTimeout(() => emit("network_idle", contextOf(tab), own), idleMs);
  };
  return {
    enable: () => undefined,
    forget,
    stop() {
      for (const sessionId of [...tabs.keys()]) forget({ sessionId });
    },
    handlers: {
      "Network.requestWillBeSent": ({ requestId }, tab) => {
        const state = tabs.get(tab.sessionId) ?? { open: new Set<string>() };
        clearTimeout(state.timer);
        if (!hasDocument(tab) || state.open.size >= mostOpen) return;
        state.open.add(requestId);
        tabs.set(tab.sessionId, state);
      },
      "Network.loadingFinished": end,
      "Network.loadingFailed": end,
    },
  };
};
