/**
 * The pictures of one tab, shared by all who watch it.
 *
 *                  may be shown
 *   checking ─────────────────────► shown ──── the main frame has another document ────► checking
 *      │  ▲                           │
 *      │  │ another document          │ a vault fills
 *      ▼  │                           │
 *    hidden ◄─────────────────────────┘
 *
 * checking  It is not known whether the present document may be shown (shown-pages.ts). Pictures are kept back.
 * shown     Pictures are given out.
 * hidden    Chromium makes no pictures. After it, pictures begin only when Chromium can't draw the document before any more.
 *
 * A tab whose process has died is `crashed` until it has another document.
 */

import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { ScreencastFrame } from "./events.ts";
import { createPictureFlow, type Picture } from "./picture-flow.ts";
import { firstQuality } from "./quality.ts";
import type { PictureState } from "./view-message.ts";

const timeoutMs = 5000;

/** Larger pages are pictured smaller. */
const maxPicture = { maxWidth: 1920, maxHeight: 1200 };

/** Chromium goes on showing the document before for half a second at most, until the new one draws; twice that, ms. */
const otherDocumentMs = 1000;

export type TabCast = {
  state(): PictureState;
  /** The newest picture that may be shown, if it is another than the one of this number. */
  take(after: number): Picture | undefined;
  quality(): number;
  setQuality(quality: number): void;
  onFrame(event: ScreencastFrame): void;
  /** The main frame has another document. */
  onDocument(): void;
  onCrash(): void;
  /** Tells of nothing any more. The tab's session is the caller's to end. */
  stop(): void;
};

/** `sessionId`: of the tab. `onNews`: called when there is a new picture or another state. */
type TabCastDeps = { cdp: CdpConnection; sessionId: string; shownPages: ShownPages; onNews(): void };

/** Begins with the check of the present document. */
export const startTabCast = ({ cdp, sessionId, shownPages, onNews }: TabCastDeps): TabCast => {
  let state: PictureState = "checking";
  let quality = firstQuality;
  /** Rises with each check and with all that makes it worthless. */
  let checks = 0;
  let isCasting = false;
  let timer: NodeJS.Timeout | undefined;
  const call = { sessionId, timeoutMs };
  // A tab that is gone makes no pictures; its end is told of otherwise.

  const cast = (): void => {
    isCasting = true;
    tell(cdp.send("Page.startScreencast", { format: "jpeg", quality, ...maxPicture }, call));
  };
  const flow = createPictureFlow({
    acknowledge: (id) => tell(cdp.send("Page.screencastFrameAck", { sessionId: id }, call)),
    askAgain: cast,
    onPicture: () => state === "shown" && onNews(),
  });
  const change = (next: PictureState): void => {
    if (next === state) return;
    state = next;
    onNews();
  };
  const end = (): void => {
    checks += 1;
    isCasting = false;
    clearTimeout(timer);
    flow.forget();
  };
  const stop = (next: "hidden" | "crashed"): void => {
    if (isCasting) tell(cdp.send("Page.stopScreencast", undefined, call));
    end();
    change(next);
  };
  const hide = (): void => stop("hidden");
  const check = async (): Promise<void> => {
    checks += 1;
    const mine = checks;
    change("checking");
    const may = await shownPages.mayShow(cdp, sessionId).catch(() => false);
    if (mine !== checks) return;
    if (!may || shownPages.isFilling()) return hide();
    if (!isCasting) cast();
    change("shown");
  };
  const stopListening = shownPages.onFill(hide);
  void check();

  return {
    state: () => state,
    take: (after) => (state === "shown" ? flow.take(after) : undefined),
    quality: () => quality,
    setQuality(next) {
      if (next === quality) return;
      quality = next;
      if (isCasting) cast();
    },
    onFrame(event) {
      if (isCasting) flow.add(event);
    },
    onDocument() {
      clearTimeout(timer);
      if (isCasting) return void check();
      timer = setTimeout(() => void check(), otherDocumentMs);
    },
    // Chromium would go on waiting for the acknowledgement of the last picture of the page that is gone.
    onCrash: () => stop("crashed"),
    stop() {
      stopListening();
      end();
    },
  };
};
