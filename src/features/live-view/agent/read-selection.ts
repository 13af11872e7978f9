import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { evaluateApart } from "../../../platform/cdp/commands.ts";
import { framesOf } from "./frames-of.ts";
import { maxTextChars } from "./messages.ts";

const timeoutMs = 2000;

/**
 * The selected text of a document, or of its focused field; never of a password. It runs in a world of its own, where
 * the page's changes of prototypes have no effect; a page can shadow `activeElement` by an element's name, which then
 * only hides its own selection.
 */
const selectionOf = `(() => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  const isText = active instanceof HTMLTextAreaElement || (active instanceof HTMLInputElement && active.type !== "password");
  const text = isText && active.selectionStart !== null
    ? active.value.slice(active.selectionStart, active.selectionEnd)
    : String(getSelection());
  return text.slice(0, ${maxTextChars});
})()`;

/** The selected text of a page, "" when there is none. Frames of other sites are not asked (frames-of.ts). */
export const readSelection = async (cdp: CdpConnection, sessionId: string): Promise<string> => {
  const call = { sessionId, timeoutMs };
  for (const { id: frameId } of await framesOf(cdp, call)) {
    const value = await evaluateApart(cdp, selectionOf, { ...call, frameId });
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
};
