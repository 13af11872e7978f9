/**
 * The newest picture of a tab, and the pace at which Chromium makes them. Chromium makes the next ones when the last ones are
 * acknowledged, and drops what is drawn meanwhile. A picture is acknowledged when the first viewer takes it, so that Chromium draws as often
 * as the fastest viewer can see. What was dropped may have been the last change of the page, so after a late acknowledgement
 * a further picture is asked for.
 */
import type { ScreencastFrame } from "./events.ts";
import { pictureFrame } from "./view-message.ts";

/** Time without a new picture after a late acknowledgement, ms: then one is asked for. */
const missedMs = 100;

/** `number`: of this tab's pictures, from 1. */
export type Picture = { number: number; bytes: Buffer };

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
export const createPictureFlow = ({ acknowledge, askAgain, onPicture }: PictureFlowDeps): PictureFlow => {
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
