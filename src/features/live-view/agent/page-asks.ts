/** What the page of one tab asks its person for, from each place where it can ask (ask.ts), while a viewer may answer. */
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { type Asks, createAsks } from "./ask.ts";
import { type FileChoosers, watchFileChoosers } from "./file-chooser.ts";
import { type Logins, watchLogins } from "./http-login.ts";
import { watchPickers } from "./open-picker.ts";
import type { InputMessage } from "./tab-input.ts";
import type { Uploads } from "./uploads.ts";

/** What nobody answers is cancelled after this, ms. The page may go on beside it. */
const askMs = 180_000;

type PageAsks = Pick<Asks, "present" | "answer"> &
  Pick<Logins, "onPaused" | "onAuthRequired"> & {
    onChooser: FileChoosers["onOpened"];
    /** A viewer has sent this input. */
    onInput(message: InputMessage): void;
    /** Whether there is a viewer who may answer. */
    setActive(isActive: boolean): void;
    /** The page can take no answer any more. */
    end(): void;
    /** Ends for good. */
    stop(): void;
  };

type PageAsksDeps = {
  cdp: CdpConnection;
  sessionId: string;
  uploads: Uploads;
  mask(text: string): string;
  onNews(): void;
};

const opensNothing = (message: InputMessage): boolean =>
  message.type === "wheel" || (message.type === "mouse" && message.action === "move");

/** Nobody may answer yet. */
export const createPageAsks = ({ cdp, sessionId, uploads, mask, onNews }: PageAsksDeps): PageAsks => {
  const asks = createAsks(askMs, onNews);
  const pickers = watchPickers({ cdp, sessionId, asks, mask });
  const logins = watchLogins(cdp, sessionId, asks);
  const choosers = watchFileChoosers(cdp, { sessionId, asks, uploads });
  return {
    present: asks.present,
    answer: asks.answer,
    onPaused: logins.onPaused,
    onAuthRequired: logins.onAuthRequired,
    onChooser: choosers.onOpened,
    onInput(message) {
      if (!opensNothing(message)) pickers.look();
    },
    setActive(isActive) {
      logins.setActive(isActive);
      choosers.setActive(isActive);
      if (isActive) pickers.look();
      else asks.end();
    },
    end: asks.end,
    stop() {
      pickers.stop();
      asks.end();
    },
  };
};
