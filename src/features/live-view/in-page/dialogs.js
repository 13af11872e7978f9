/** Dialogs of the page that is shown, and the one for texts where this browser does not let us use its clipboard. */

/** @typedef {{ site: string, kind: string, message: string, default_text: string }} PageDialog */

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {(accept: boolean, text: string) => void} answer */
export const createPageDialog = (answer) => {
  const dialog = /** @type {HTMLDialogElement} */ (byId("page-dialog"));
  const input = /** @type {HTMLInputElement} */ (byId("page-dialog-input"));
  let isAsked = false;
  dialog.addEventListener("close", () => {
    if (isAsked) answer(dialog.returnValue === "accept", input.value);
    isAsked = false;
  });
  return {
    /** Null: there is none, or somebody has answered it. @param {PageDialog | null} asked */
    set(asked) {
      if (!asked) {
        isAsked = false;
        return dialog.close();
      }
      byId("page-dialog-text").textContent = asked.kind === "beforeunload" ? "Leave this page?" : asked.message;
      byId("page-dialog-site").textContent = asked.site;
      input.hidden = asked.kind !== "prompt";
      input.value = asked.default_text;
      byId("page-dialog-dismiss").hidden = asked.kind === "alert";
      dialog.returnValue = "";
      isAsked = true;
      if (!dialog.open) dialog.showModal();
      if (!input.hidden) input.select();
    },
  };
};

export const createTextDialog = () => {
  const dialog = /** @type {HTMLDialogElement} */ (byId("text-dialog"));
  const text = /** @type {HTMLTextAreaElement} */ (byId("text-dialog-text"));
  const done = byId("text-dialog-done");
  /** @type {((text: string) => void) | undefined} */
  let onDone;
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "done") onDone?.(text.value);
    text.value = "";
  });
  const open = (/** @type {string} */ title) => {
    byId("text-dialog-title").textContent = title;
    dialog.returnValue = "";
    dialog.showModal();
    text.focus();
  };
  return {
    /** Lets the person copy a text. @param {string} copied */
    give(copied) {
      onDone = undefined;
      done.hidden = true;
      text.value = copied;
      open("Copied in the browser");
      text.select();
    },
    /** Lets the person paste a text. @param {(text: string) => void} take */
    ask(take) {
      onDone = take;
      done.hidden = false;
      done.textContent = "Paste";
      open("Text to paste");
    },
  };
};
