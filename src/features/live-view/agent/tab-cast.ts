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
import { type PictureState, pictureFrame } from "./messages.ts";

// The quality of a tab's pictures. It follows the fastest of its viewers: a slow one gets fewer pictures, and must not
// make the others' pictures worse.

/** Of JPEG; a step up needs half again as many bytes. */
const qualities = [35, 50, 65, 80] as const;

/** Of a tab that nobody has acknowledged a picture of yet. */
const firstQuality = 65;

/**
 * A picture that takes longer than this to be drawn is too large for the way, ms; one that takes less than the other
 * could be larger.
 */
const slowMs = 200;
const fastMs = 60;

/** The quality after one in which the fastest viewer took `ackMs` from a picture to its `ack`. */
export const nextQuality = (present: number, ackMs: number): number => {
  const at = (qualities as readonly number[]).indexOf(present);
  const step = ackMs > slowMs ? -1 : ackMs < fastMs ? 1 : 0;
  return qualities[Math.min(qualities.length - 1, Math.max(0, at + step))] ?? firstQuality;
};

/** The mean of a viewer's times, in which the latest ones count most. */
export const meanOf = (mean: number | undefined, latestMs: number): number =>
  mean === undefined ? latestMs : mean * 0.8 + latestMs * 0.2;

// The newest picture of a tab, and the pace at which Chromium makes them. Chromium makes the next ones when the last
// ones are acknowledged, and drops what is drawn meanwhile. A picture is acknowledged when the first viewer takes it,
// so that Chromium draws as often as the fastest viewer can see. What was dropped may have been the last change of the
// page, so after a late acknowledgement a further picture is asked for.

/** Time without a new picture after a late acknowledgement, ms: then one is asked for. */
const missedMs = 100;

/** `number`: of this tab's pictures, from 1. */
type Picture = { number: number; bytes: Buffer };

type PictureFlow = {
  /** Keeps a picture, and calls `onPicture` if it is news. */
  add(event: ScreencastFrame): void;
  /** The newest picture, if it is another than the one of this number. */
  take(after: number): Picture | undefined;
  /** Forgets the picture, and acknowledges nothing of before. */
  forget(): void;
};

type PictureFlowDeps = { acknowledge(id: number): void; askAgain(): void; onPicture(): void };

/** No picture yet. */
const createPictureFlow = ({ acknowledge, askAgain, onPicture }: PictureFlowDeps): PictureFlow => {
  let latest: (Picture & { jpeg: string }) | undefined;
  let count = 0;
  let unacknowledged: number[] = [];
  /** Whether a picture is being given out in the turn in which it came: Chromium does not wait for it. */
  let isArriving = false;
  let timer: NodeJS.Timeout | undefined;
  const acknowledgeAll = (): void => {
    for (const id of unacknowledged) acknowledge(id);
    unacknowledged = [];
  };
  return {
    add({ data, sessionId, metadata }) {
      unacknowledged.push(sessionId);
      // A page that has not changed since is no news.
      if (latest?.jpeg === data) return acknowledgeAll();
      clearTimeout(timer);
      count += 1;
      const size = { width: metadata.deviceWidth, height: metadata.deviceHeight };
      latest = { number: count, bytes: pictureFrame(count, size, data), jpeg: data };
      isArriving = true;
      onPicture();
      isArriving = false;
    },
    take(after) {
      if (!latest || latest.number === after) return undefined;
      if (unacknowledged.length > 0 && !isArriving) {
        clearTimeout(timer);
        timer = setTimeout(askAgain, missedMs);
      }
      acknowledgeAll();
      return latest;
    },
    forget() {
      clearTimeout(timer);
      latest = undefined;
      unacknowledged = [];
    },
  };
};

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
