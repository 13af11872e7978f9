import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../../cdp/cdp-connection.ts";
import { evaluateApart } from "../evaluate-apart.ts";
import { maxTextChars } from "./viewer-message.ts";

const timeoutMs = 2000;

/** Frames that are asked, the outer ones first. */
const maxFrames = 32;

/**
 * The selected text of a document, or of its focused field; never of a password. It runs in a world of its own, where the page's changes
 * of prototypes have no effect; a page can shadow `activeElement` by an element's name, which then only hides its own selection.
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

const idsOf = ({ frame, childFrames = [] }: Protocol.Page.FrameTree): string[] => [
  frame.id,
  ...childFrames.flatMap(idsOf),
];

/**
 * The selected text of a page, "" when there is none. Frames of other sites are not asked: Chromium draws them in processes of their own,
 * which are targets of their own.
 */
export const readSelection = async (cdp: CdpConnection, sessionId: string): Promise<string> => {
  const call = { sessionId, timeoutMs };
  const { frameTree } = await cdp.send("Page.getFrameTree", undefined, call);
  for (const frameId of idsOf(frameTree).slice(0, maxFrames)) {
    const value = await evaluateApart(cdp, selectionOf, { ...call, frameId });
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
};
