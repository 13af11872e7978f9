/**
 * Keys, text of input methods and the clipboard of the one element that takes them. Ctrl+Alt+Shift leaves it. On a Mac, Command is sent
 * as Control: the browser runs on Linux.
 */

/** @typedef {import("./connection.js").Message} Message */

const isMac = /mac/i.test(navigator.platform);

/** As CDP has them. @param {KeyboardEvent | MouseEvent} event */
export const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }) => {
  const control = ctrlKey || (isMac && metaKey);
  return (altKey ? 1 : 0) + (control ? 2 : 0) + (metaKey && !isMac ? 4 : 0) + (shiftKey ? 8 : 0);
};

/** What a key types. AltGr is Control with Alt, and types. @param {KeyboardEvent} event */
const textOf = (event) => {
  const { key, ctrlKey, altKey, metaKey } = event;
  if (key === "Enter") return "\r";
  const isCommand = metaKey || (ctrlKey && !altKey && !event.getModifierState("AltGraph"));
  return [...key].length === 1 && !isCommand ? key : undefined;
};

/** @param {KeyboardEvent} event @param {"down" | "up"} action @returns {Message} */
const keyMessage = (event, action) => {
  const text = action === "down" ? textOf(event) : undefined;
  const { key, code, keyCode, location, repeat } = event;
  const sent = isMac && key === "Meta" ? { key: "Control", code: "ControlLeft", key_code: 17 } : undefined;
  return {
    type: "key",
    action,
    key,
    code,
    key_code: keyCode,
    ...sent,
    location,
    repeat,
    modifiers: modifiersOf(event),
    ...(text !== undefined && { text }),
  };
};

/** @param {KeyboardEvent} event @param {string} letter */
const isCommand = ({ ctrlKey, metaKey, altKey, key }, letter) =>
  (ctrlKey || metaKey) && !altKey && key.toLowerCase() === letter;

/**
 * @param {HTMLTextAreaElement} element
 * @param {{ send(message: Message): void, copy(cut: boolean): void, paste(text: string): void, leave(): void }} to
 */
export const captureKeyboard = (element, { send, copy, paste, leave }) => {
  /** Keys that are down in the browser, by what they are on this keyboard. @type {Map<string, Message>} */
  const down = new Map();
  let isComposing = false;
  const empty = () => {
    element.value = "";
  };
  const releaseAll = () => {
    for (const message of down.values()) send({ ...message, action: "up", repeat: false, text: undefined });
    down.clear();
  };

  element.addEventListener("keydown", (event) => {
    // The input method takes it, and tells of its text.
    if (event.isComposing || event.key === "Process" || event.key === "Unidentified" || event.key === "Dead") return;
    if (event.ctrlKey && event.altKey && event.shiftKey) {
      event.preventDefault();
      releaseAll();
      return leave();
    }
    // The `paste` event has the text of this machine's clipboard.
    if (isCommand(event, "v")) return;
    event.preventDefault();
    if (isCommand(event, "c") || isCommand(event, "x")) return copy(event.key.toLowerCase() === "x");
    const message = keyMessage(event, "down");
    down.set(event.code || event.key, message);
    send(message);
  });
  element.addEventListener("keyup", (event) => {
    const name = event.code || event.key;
    if (!down.delete(name)) return;
    event.preventDefault();
    send(keyMessage(event, "up"));
    // A Mac tells of no other key's end while Command is down.
    if (event.key === "Meta") releaseAll();
  });
  element.addEventListener("blur", releaseAll);
  element.addEventListener("compositionstart", () => {
    isComposing = true;
  });
  element.addEventListener("compositionupdate", ({ data }) =>
    send({ type: "compose", text: data.slice(0, 1000), cursor: Math.min(1000, data.length) }),
  );
  element.addEventListener("compositionend", ({ data }) => {
    isComposing = false;
    send(data === "" ? { type: "compose", text: "", cursor: 0 } : { type: "text", text: data });
    empty();
  });
  element.addEventListener("beforeinput", (event) => {
    // A keyboard on the screen, and dictation, tell of no keys.
    if (isComposing || event.isComposing) return;
    if (event.inputType === "insertText" && event.data) send({ type: "text", text: event.data });
    if (event.inputType === "deleteContentBackward")
      for (const action of ["down", "up"])
        send({ type: "key", action, key: "Backspace", code: "Backspace", key_code: 8 });
    if (event.cancelable) event.preventDefault();
  });
  element.addEventListener("paste", (event) => {
    event.preventDefault();
    paste(event.clipboardData?.getData("text/plain") ?? "");
  });
};
