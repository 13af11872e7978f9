/**
 * What a recording sees of the browser: the pictures of the tab in front (agent/shown-tab.ts), over a connection of its
 * own. A new Chromium for the same holder has another place: then it connects again.
 *
 *   connecting ──► watching ──the browser closes the connection──► connecting …
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { Uploads } from "../../live-view/agent/file-chooser.ts";
import { jpegOf, pageSizeOf } from "../../live-view/agent/messages.ts";
import { createShownTab, type ShownTab } from "../../live-view/agent/shown-tab.ts";
import { openViewedBrowser } from "../../live-view/agent/viewed-browser.ts";

/** Time between two tries to connect, ms. */
const againMs = 500;

/** A recording gives pages no files. */
const none: Uploads = {
  begin() {
    throw new Error("a recording answers nothing");
  },
};

/** What is to be seen now. `hidden`: it may not be shown; `same`: nothing else than before. */
export type Seen = { is: "picture"; jpeg: Buffer; page: { width: number; height: number } } | { is: "hidden" | "same" };

type Front = {
  /** Each picture is given once. */
  look(): Seen;
};

export type FrontDeps = { devTools(): DevToolsPlace; pageOrder(): PageOrder; shownPages: ShownPages };

/** Watches until `signal` is aborted; then the connection is closed. Resolves at once. */
export const watchFront = ({ devTools, pageOrder, shownPages }: FrontDeps, signal: AbortSignal): Front => {
  let shown: ShownTab | undefined;
  /** The number of the picture that was given last, of the shown tab's. */
  let given = 0;

  const watch = async (): Promise<void> => {
    const order = pageOrder();
    await using cdp = await connectDevTools(devTools());
    const close = (): void => void cdp[Symbol.asyncDispose]();
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) return;
    try {
      // Nothing but pictures is taken of it.
      const viewed = await openViewedBrowser(cdp, { order, shownPages, uploads: none, mask: (text) => text });
      const onShow = (): void => {
        given = 0;
      };
      shown = createShownTab({ viewed, mayAct: false, onShow, onNews: () => undefined });
      void shown.show(viewed.tabs().at(-1)?.id);
      await cdp.closed;
    } finally {
      signal.removeEventListener("abort", close);
      shown?.close();
      shown = undefined;
    }
  };
  const watchOn = async (): Promise<void> => {
    while (!signal.aborted) {
      await watch().catch(() => undefined);
      await sleep(againMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  void watchOn();

  return {
    look() {
      if (signal.aborted) return { is: "same" };
      const cast = shown?.tab()?.cast;
      // A fill hides every tab, whether this one is attached yet or not.
      if (shownPages.isFilling() || cast?.state() === "hidden") return { is: "hidden" };
      const next = cast?.take(given);
      if (!next) return { is: "same" };
      given = next.number;
      return { is: "picture", jpeg: jpegOf(next.bytes), page: pageSizeOf(next.bytes) };
    },
  };
};
