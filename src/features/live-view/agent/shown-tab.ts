/**
 * Which tab a viewer of a browser sees: at first the newest tab, then the tab that the shown tab opens, the tab
 * that was chosen, or the newest one again when the shown tab is closed.
 */
import type { ViewedBrowser, Watching } from "./viewed-browser.ts";
import type { WatchedTab } from "./watched-tab.ts";

export type ShownTab = {
  /** The id of the shown tab; undefined while there is none. */
  id(): string | undefined;
  /** The shown tab, once it is attached. */
  tab(): WatchedTab | undefined;
  /** The time that a viewer takes for a picture, ms. */
  report(ackMs: number): void;
  /** Shows another tab, or none. */
  show(id: string | undefined): Promise<void>;
  /** Watches nothing any more. */
  close(): void;
};

/**
 * `mayAct`: whether the one who watches may act. `onShow`: another tab is shown, which is not attached yet. `onNews`:
 * the shown tab is attached, or has a new picture, another state or another dialog. `onTabs`: the list of tabs has
 * changed.
 */
type ShownTabDeps = { viewed: ViewedBrowser; mayAct: boolean; onShow(): void; onNews(): void; onTabs?(): void };

type Showing = { id: string | undefined; watching: Watching | undefined };

/** Shows nothing until `show` is called. */
export const createShownTab = ({ viewed, mayAct, onShow, onNews, onTabs }: ShownTabDeps): ShownTab => {
  let showing: Showing = { id: undefined, watching: undefined };
  let isOver = false;

  const show = async (id: string | undefined): Promise<void> => {
    showing.watching?.leave();
    const mine: Showing = { id, watching: undefined };
    showing = mine;
    onShow();
    if (id === undefined) return;
    const newsOfMine = (): void => {
      if (showing === mine) onNews();
    };
    const watching = await viewed.watch(id, newsOfMine, mayAct);
    if (isOver || showing !== mine) return watching?.leave();
    mine.watching = watching;
    onNews();
  };
  const stopListening = viewed.listen({
    onTabs() {
      onTabs?.();
      const tabs = viewed.tabs();
      if (!tabs.some(({ id }) => id === showing.id)) void show(tabs.at(-1)?.id);
    },
    onOpened(opener, tab) {
      if (opener === showing.id) void show(tab);
    },
  });
  return {
    id: () => showing.id,
    tab: () => showing.watching?.tab,
    report: (ackMs) => showing.watching?.report(ackMs),
    show,
    close() {
      isOver = true;
      stopListening();
      showing.watching?.leave();
    },
  };
};
