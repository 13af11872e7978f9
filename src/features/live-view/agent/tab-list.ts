/**
 * The tabs of a browser, in the order in which they were made. Chromium tells when tabs come and go and when one
 * navigates, and not of each new title: so it is asked after such an event, and once a second.
 */

import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { handleEvent, TargetInfo } from "./events.ts";
import type { TabInfo } from "./messages.ts";

const timeoutMs = 5000;
const pollMs = 1000;

/** Pages can have Chromium tell of them as often as they like; it is asked this long after the first event, ms. */
const pauseMs = 50;

/** A page can open as many tabs as it likes, and give each any title. */
const maxTabs = 100;
const maxTitle = 200;
const maxUrl = 1000;

type TabsListener = {
  /** The list has changed. */
  onTabs(): void;
  /** A page has opened another tab, which is in the list. */
  onOpened(opener: string, tab: string): void;
};

export type TabList = {
  tabs(): TabInfo[];
  has(tab: string): boolean;
  listen(listener: TabsListener): () => void;
  /** Asks the browser now. Rejects when it refuses. */
  refresh(): Promise<void>;
  /** An event of the browser. */
  onEvent(event: CdpEvent): void;
};

/** A page that Chromium prepares and nobody sees yet has a subtype. */
const isTab = ({ type, subtype }: TargetInfo): boolean => type === "page" && !subtype;

/** `mask`: what a page writes is shown like that. */
type TabListDeps = { order: PageOrder; mask(text: string): string };

/** Lists the tabs until the connection is closed. Rejects when the browser refuses. */
export const followTabs = async (cdp: CdpConnection, { order, mask }: TabListDeps): Promise<TabList> => {
  const infoOf = ({ targetId, title, url }: TargetInfo): TabInfo => ({
    id: targetId,
    title: mask(title).slice(0, maxTitle),
    url: mask(url).slice(0, maxUrl),
  });
  const known = new Map<string, TabInfo>();
  const listeners = new Set<TabsListener>();
  let told = "[]";
  let timer: NodeJS.Timeout | undefined;
  const refresh = async (): Promise<void> => {
    const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] }, { timeoutMs });
    const infos = order.sorted(targetInfos.flatMap((info) => TargetInfo.safeParse(info).data ?? []).filter(isTab));
    const opened = infos.filter(({ targetId, openerId }) => openerId && !known.has(targetId));
    known.clear();
    for (const info of infos) known.set(info.targetId, infoOf(info));
    const now = JSON.stringify([...known.values()]);
    if (now === told) return;
    told = now;
    for (const listener of listeners) {
      listener.onTabs();
      for (const { openerId, targetId } of opened) listener.onOpened(openerId ?? "", targetId);
    }
  };
  const refreshSoon = (): void => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      // A browser that is gone closes the connection.
      refresh().catch(() => undefined);
    }, pauseMs);
  };
  const poll = setInterval(refreshSoon, pollMs);
  void cdp.closed.then(() => {
    clearInterval(poll);
    clearTimeout(timer);
  });
  await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, { timeoutMs });
  await refresh();
  return {
    tabs: () => [...known.values()].slice(-maxTabs),
    has: (tab) => known.has(tab),
    refresh,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onEvent: (event) =>
      handleEvent(event, {
        "Target.targetCreated": refreshSoon,
        "Target.targetInfoChanged": refreshSoon,
        "Target.targetDestroyed": refreshSoon,
      }),
  };
};
