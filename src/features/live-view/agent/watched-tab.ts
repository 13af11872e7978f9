/**
 * One tab that is watched: its pictures, its input, its dialogs, and what a browser's own buttons do. One session of
 * CDP, for all viewers.
 */

import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { CdpConnection, CdpEvent } from "../../../platform/cdp/cdp-connection.ts";
import { tell } from "../../../platform/cdp/commands.ts";
import type { Ask } from "./ask.ts";
import { type DialogOpening, handleEvent } from "./events.ts";
import type { Uploads } from "./file-chooser.ts";
import { type ActingMessage, type AnswerMessage, type Dialog, maxTextChars } from "./messages.ts";
import { createPageAsks } from "./page-asks.ts";
import { readSelection } from "./read-selection.ts";
import { createStanding } from "./standing.ts";
import { startTabCast, type TabCast } from "./tab-cast.ts";
import { createTabInput, type InputMessage } from "./tab-input.ts";

const timeoutMs = 5000;
const navigateTimeoutMs = 30_000;

/**
 * A dialog of a page that nobody answers is dismissed after this, ms: the page stands still until there is an answer.
 * Those who only watch can't answer, so without a viewer who may act a client has a moment, and nobody else is waited
 * for.
 */
const peopleMs = 30_000;
const clientMs = 2000;

const maxDialogChars = 2000;

/** What viewers may open. Files, Chromium's own pages and scripts are for those who have CDP. */
const isPlainUrl = (url: string): boolean =>
  url === "about:blank" || ["http:", "https:"].includes(URL.parse(url)?.protocol ?? "");

/** What is done to the shown tab, besides input. */
export type TabMessage = Extract<ActingMessage, { type: "navigate" | "history" | "reload" | "dialog" }>;

export type WatchedTab = {
  cast: TabCast;
  dialog(): Dialog | null;
  ask(): Ask | null;
  /**
   * Whether the page gave no answer when it was attached to: it may have shown a dialog by then, which nobody but a
   * client can answer.
   */
  stands(): boolean;
  /** Whether one who watches may act: then the page's asks are taken from the browser and offered. */
  setActing(isActing: boolean): void;
  answer(message: AnswerMessage): void;
  input(message: InputMessage): void;
  act(message: TabMessage): void;
  /** The selected text; "" while the page may not be shown. Never rejects. */
  copy(cut: boolean): Promise<string>;
  /** An event of the tab's session. */
  onEvent(event: CdpEvent): void;
  onCrash(): void;
  /** Ends the session: Chromium undoes what it has set, and dismisses a dialog. */
  close(): void;
};

export type WatchedTabDeps = {
  cdp: CdpConnection;
  targetId: string;
  shownPages: ShownPages;
  /** Replaces what a vault has filled in texts of the page. */
  mask(text: string, maxChars?: number): string;
  uploads: Uploads;
  /** Called when there is a new picture, another state, another dialog or another ask. */
  onNews(): void;
};

type DialogDeps = Pick<WatchedTabDeps, "mask"> & {
  answer(accept: boolean, text?: string): void;
  dismissMs(): number;
  onNews(): void;
};

const createDialogs = ({ mask, answer, dismissMs, onNews }: DialogDeps) => {
  let present: Dialog | null = null;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(timer);
    present = null;
  };
  const wait = (): void => {
    clearTimeout(timer);
    if (present) timer = setTimeout(() => answer(false), dismissMs());
  };
  return {
    present: () => present,
    end,
    /** Others may answer now. */
    wait,
    onOpening({ url, type, message, defaultPrompt }: DialogOpening): void {
      clearTimeout(timer);
      present = {
        site: mask(URL.parse(url)?.origin ?? "").slice(0, maxDialogChars),
        kind: type,
        message: mask(message).slice(0, maxDialogChars),
        default_text: mask(defaultPrompt).slice(0, maxDialogChars),
      };
      wait();
      onNews();
    },
    onClosed(): void {
      end();
      onNews();
    },
  };
};

const goTo = async (cdp: CdpConnection, sessionId: string, step: -1 | 1): Promise<void> => {
  const { entries, currentIndex } = await cdp.send("Page.getNavigationHistory", undefined, { sessionId, timeoutMs });
  const entryId = entries[currentIndex + step]?.id;
  if (entryId !== undefined) await cdp.send("Page.navigateToHistoryEntry", { entryId }, { sessionId, timeoutMs });
};

const pressDelete = async (cdp: CdpConnection, sessionId: string): Promise<void> => {
  const key = { key: "Delete", code: "Delete", windowsVirtualKeyCode: 46 };
  await cdp.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key }, { sessionId, timeoutMs });
  await cdp.send("Input.dispatchKeyEvent", { type: "keyUp", ...key }, { sessionId, timeoutMs });
};

/**
 * Attaches to the tab. It stays where it is among the others: a focus is emulated, so that Chromium draws a tab in the
 * background and it takes keys. Rejects with `CdpRefused` when the tab is gone.
 */
export const watchTab = async (
  { cdp, targetId, shownPages, mask, uploads, onNews }: WatchedTabDeps,
  onSession: (sessionId: string) => void,
): Promise<WatchedTab> => {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs });
  const call = { sessionId, timeoutMs };
  // What the browser refuses, and what a page that hangs does not do, has no effect; the picture shows that.
  // Not awaited: a page that hangs does not answer, and its last picture can still be seen.
  let isActing = false;
  const standing = createStanding(onNews);
  const enable = (): void => {
    tell(cdp.send("Page.enable", {}, { sessionId }).then(standing.answers));
    tell(cdp.send("Emulation.setFocusEmulationEnabled", { enabled: true }, call));
  };
  enable();
  // Tells of a tab that has crashed before.
  tell(cdp.send("Inspector.enable", undefined, call));
  const answerDialog = (accept: boolean, text?: string): void =>
    tell(cdp.send("Page.handleJavaScriptDialog", { accept, ...(text !== undefined && { promptText: text }) }, call));
  const dialogs = createDialogs({
    mask,
    answer: answerDialog,
    dismissMs: () => (isActing ? peopleMs : clientMs),
    onNews,
  });
  const input = createTabInput(cdp, sessionId);
  const cast = startTabCast({ cdp, sessionId, shownPages, onNews });
  const asks = createPageAsks({ cdp, sessionId, uploads, mask, onNews });
  const onCrash = (): void => {
    standing.answers();
    asks.end();
    cast.onCrash();
  };

  const act = (message: TabMessage): void => {
    if (message.type === "dialog") answerDialog(message.accept, message.text);
    if (message.type === "reload") tell(cdp.send("Page.reload", {}, call));
    if (message.type === "history") tell(goTo(cdp, sessionId, message.step));
    if (message.type === "navigate" && isPlainUrl(message.url))
      tell(cdp.send("Page.navigate", { url: message.url }, { sessionId, timeoutMs: navigateTimeoutMs }));
  };
  onSession(sessionId);
  return {
    cast,
    dialog: dialogs.present,
    ask: asks.present,
    stands: standing.stands,
    answer: asks.answer,
    setActing(next) {
      if (next === isActing) return;
      isActing = next;
      dialogs.wait();
      asks.setActive(next);
    },
    input(message) {
      input.send(message);
      asks.onInput(message);
    },
    act,
    async copy(cut) {
      try {
        if (cast.state() !== "shown") return "";
        const text = await readSelection(cdp, sessionId);
        if (cut && text !== "") await pressDelete(cdp, sessionId);
        // A fill may have begun meanwhile.
        return cast.state() === "shown" ? mask(text, maxTextChars) : "";
      } catch {
        return "";
      }
    },
    onEvent: (event) =>
      handleEvent(event, {
        "Page.screencastFrame": cast.onFrame,
        "Page.javascriptDialogOpening": dialogs.onOpening,
        "Page.javascriptDialogClosed": dialogs.onClosed,
        "Input.dragIntercepted": ({ data }) => input.beginDrag(data),
        "Page.fileChooserOpened": asks.onChooser,
        "Fetch.requestPaused": asks.onPaused,
        "Fetch.authRequired": asks.onAuthRequired,
        "Inspector.targetCrashed": onCrash,
        "Inspector.targetReloadedAfterCrash"() {
          enable();
          cast.onDocument();
        },
        "Page.frameNavigated"({ frame }) {
          if (frame.parentId !== undefined) return;
          standing.answers();
          cast.onDocument();
        },
      }),
    onCrash,
    close() {
      standing.stop();
      asks.stop();
      dialogs.end();
      cast.stop();
      tell(cdp.send("Target.detachFromTarget", { sessionId }, { timeoutMs }));
    },
  };
};
