/**
 * A browser that is watched: the list of its tabs, and the tabs that someone watches. One connection of CDP, for
 * all viewers.
 */

import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { handleEvent } from "./events.ts";
import { nextQuality } from "./tab-cast.ts";
import { followTabs, type TabList } from "./tab-list.ts";
import { type WatchedTab, type WatchedTabDeps, watchTab } from "./watched-tab.ts";

const timeoutMs = 5000;

/** The quality changes at most this often, ms. */
const qualityPauseMs = 2000;

/** One viewer's hold on a tab. */
export type Watching = {
  tab: WatchedTab;
  /** The time that this viewer takes for a picture, ms. */
  report(ackMs: number): void;
  leave(): void;
};

export type ViewedBrowser = Pick<TabList, "tabs" | "listen"> & {
  /**
   * Watches a tab; `onNews` as of `WatchedTabDeps`, `mayAct`: whether this viewer may. Undefined when there is no such
   * tab.
   */
  watch(tab: string, onNews: () => void, mayAct: boolean): Promise<Watching | undefined>;
  /** Opens a tab and resolves with its id; undefined when the browser opens none. */
  openTab(): Promise<string | undefined>;
  closeTab(tab: string): void;
  /** Resolves when the browser has closed the connection. */
  closed: Promise<unknown>;
};

type Entry = {
  tab: Promise<WatchedTab>;
  /** The viewers, each with its time for a picture. */
  viewers: Map<() => void, { ackMs?: number; mayAct: boolean }>;
  close(): void;
};

/** `order`: of the same browser's pages. The others are as of `WatchedTabDeps`. */
type ViewedBrowserDeps = Pick<WatchedTabDeps, "mask" | "uploads"> & { order: PageOrder; shownPages: ShownPages };

/** Lists the tabs of the browser at the other end of `cdp` from now on. Rejects when the browser refuses. */
export const openViewedBrowser = async (
  cdp: CdpConnection,
  { order, shownPages, mask, uploads }: ViewedBrowserDeps,
): Promise<ViewedBrowser> => {
  const watched = new Map<string, Entry>();
  const sessions = new Map<string, WatchedTab>();
  let list: TabList | undefined;
  cdp.onEvent((event) => {
    if (event.sessionId !== undefined) return sessions.get(event.sessionId)?.onEvent(event);
    list?.onEvent(event);
    handleEvent(event, {
      "Target.targetCrashed": ({ targetId }) => void watched.get(targetId)?.tab.then(({ onCrash }) => onCrash()),
    });
  });
  const tabs = await followTabs(cdp, { order, mask });
  list = tabs;

  const enter = (targetId: string): Entry => {
    const viewers: Entry["viewers"] = new Map();
    let session: string | undefined;
    const onNews = (): void => {
      for (const listener of viewers.keys()) listener();
    };
    const opening = watchTab({ cdp, targetId, shownPages, mask, uploads, onNews }, (sessionId) => {
      session = sessionId;
    });
    const tab = opening.then((opened) => {
      if (session !== undefined) sessions.set(session, opened);
      return opened;
    });
    const close = (): void => {
      watched.delete(targetId);
      void tab.then(
        (opened) => {
          if (session !== undefined) sessions.delete(session);
          opened.close();
        },
        () => undefined,
      );
    };
    const entry: Entry = { tab, viewers, close };
    watched.set(targetId, entry);
    return entry;
  };

  const adapt = async ({ tab, viewers }: Entry): Promise<void> => {
    const times = [...viewers.values()].flatMap(({ ackMs }) => ackMs ?? []);
    const { cast } = await tab;
    if (times.length > 0) cast.setQuality(nextQuality(cast.quality(), Math.min(...times)));
  };

  /** Who watches has changed. */
  const noteActing = ({ tab, viewers }: Entry): void => {
    const mayAct = [...viewers.values()].some((viewer) => viewer.mayAct);
    void tab.then(
      ({ setActing }) => setActing(mayAct),
      () => undefined,
    );
  };

  return {
    tabs: tabs.tabs,
    listen: tabs.listen,
    closed: cdp.closed,
    async watch(targetId, onNews, mayAct) {
      if (!tabs.has(targetId)) return undefined;
      const entry = watched.get(targetId) ?? enter(targetId);
      entry.viewers.set(onNews, { mayAct });
      noteActing(entry);
      let adaptedMs = performance.now();
      const leave = (): void => {
        entry.viewers.delete(onNews);
        if (entry.viewers.size === 0) entry.close();
        else noteActing(entry);
      };
      try {
        return {
          tab: await entry.tab,
          leave,
          report(ackMs) {
            entry.viewers.set(onNews, { ackMs, mayAct });
            if (performance.now() - adaptedMs < qualityPauseMs) return;
            adaptedMs = performance.now();
            void adapt(entry);
          },
        };
      } catch {
        leave();
        return undefined;
      }
    },
    async openTab() {
      try {
        const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" }, { timeoutMs });
        await tabs.refresh();
        return targetId;
      } catch {
        return undefined;
      }
    },
    closeTab(targetId) {
      if (tabs.has(targetId)) cdp.send("Target.closeTarget", { targetId }, { timeoutMs }).catch(() => undefined);
    },
  };
};
