/** The page of a live view: joins the connection with what is seen and what takes input. */
import { createAskDialog } from "./asks.js";
import { connect } from "./connection.js";
import { createPageDialog, createTextDialog } from "./dialogs.js";
import { captureKeyboard } from "./keyboard.js";
import { createPicture } from "./picture.js";
import { capturePointer } from "./pointer.js";
import { createTabs } from "./tabs.js";

/** Longest text that the agent takes, characters. */
const maxTextChars = 50_000;

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

const readOnly = byId("view").dataset.readOnly === "true";

const connectionTexts = {
  connecting: "Connecting…",
  open: "",
  broken: "The connection broke. Connecting again…",
  ended: "The session has ended.",
  refused: "This link is not good any more.",
};
/** @type {Record<string, string>} */
const tabTexts = {
  hidden: "A stored login was filled into this page. It is shown again once the page is left.",
  crashed: "The page has crashed. Reload it, or open another.",
  none: "The browser has no tab.",
};
const standsText =
  "The page does not answer: it may show a dialog that was open before you came, or be busy. Go to another site, or close the tab.";

let connectionText = "";
let tabText = "";
let noteText = "";
const say = () => {
  const text = connectionText || noteText || tabText;
  if (byId("status").textContent !== text) byId("status").textContent = text;
};

const picture = createPicture(byId("picture"), (frame) => connection.send({ type: "ack", frame }));
const send = (/** @type {import("./connection.js").Message} */ message) => connection.send(message);
const tabs = createTabs(byId("tabs"), {
  show: (tab) => send({ type: "show", tab }),
  ...(!readOnly && { close: (tab) => send({ type: "close_tab", tab }) }),
});

const note = (/** @type {string} */ text) => {
  noteText = text;
  say();
};

/** What acts on the browser. `onTab`, `onDialog`, `onAsk`, `onCopied`: called with news. */
const createControls = () => {
  const keyboard = byId("keyboard");
  const url = byId("url");
  const textDialog = createTextDialog();
  const pageDialog = createPageDialog((accept, text) => send({ type: "dialog", accept, text }));
  const askDialog = createAskDialog({ send, say: note });
  const paste = (/** @type {string} */ text) => {
    if (text !== "") send({ type: "text", text: text.slice(0, maxTextChars) });
  };
  captureKeyboard(keyboard, {
    send,
    paste,
    copy: (cut) => send({ type: "copy", cut }),
    leave: () => url.focus(),
  });
  capturePointer(keyboard, { send, pointAt: picture.pointAt });
  byId("open-tab").addEventListener("click", () => send({ type: "open_tab" }));
  byId("back").addEventListener("click", () => send({ type: "history", step: -1 }));
  byId("forward").addEventListener("click", () => send({ type: "history", step: 1 }));
  byId("reload").addEventListener("click", () => send({ type: "reload" }));
  byId("copy").addEventListener("click", () => send({ type: "copy" }));
  byId("paste").addEventListener("click", async () => {
    try {
      paste(await navigator.clipboard.readText());
    } catch {
      textDialog.ask(paste);
    }
  });
  // After the click that gave it the focus has put the caret somewhere.
  url.addEventListener("focus", () => setTimeout(() => url.select()));
  byId("address").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const asked = url.value.trim();
    if (asked === "") return;
    send({
      type: "navigate",
      url: /^[a-z][a-z0-9+.-]*:/i.test(asked) && !/^[^/]*:\d/.test(asked) ? asked : `https://${asked}`,
    });
    keyboard.focus();
  });
  return {
    onTab() {
      if (document.activeElement !== url) url.value = tabs.shown()?.url ?? "";
    },
    onDialog: pageDialog.set,
    onAsk: askDialog.set,
    async onCopied(/** @type {string} */ text) {
      if (text === "") return;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        textDialog.give(text);
      }
    },
  };
};
const controls = readOnly ? undefined : createControls();

const onMessage = (/** @type {any} */ message) => {
  if (message.type === "tabs") tabs.set(message.tabs);
  if (message.type === "tab") {
    if (message.shown !== tabs.shown()?.id || message.ask) noteText = "";
    tabs.setShown(message.shown);
    tabText = tabTexts[message.state] ?? (message.stands && !message.dialog ? standsText : "");
    // While it is not known, the last picture may stay: it was shown before.
    if (message.state !== "checking") picture.show(message.state === "shown");
    controls?.onDialog(message.dialog);
    controls?.onAsk(message.ask);
    say();
  }
  if (message.type === "copied") void controls?.onCopied(message.text);
  controls?.onTab();
};

const connection = connect({
  onMessage,
  onPicture: (bytes) => void picture.draw(bytes).catch(() => undefined),
  onState(state, reason) {
    connectionText = connectionTexts[state] + (state === "broken" && reason ? ` (${reason})` : "");
    byId("view").dataset.state = state;
    if (state === "ended" || state === "refused") picture.show(false);
    say();
  },
});
