import { z } from "zod";
import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";
import { maxSeenLine, maxSeenText, type Visit } from "./visit.ts";

const Read = z.object({
  title: z.string().max(maxSeenLine),
  text: z.string().max(maxSeenText),
  markup: z.string().max(maxSeenText),
});

/**
 * Runs in a world of its own, in which the page's scripts have changed nothing and names of elements (`<img
 * name=title>`) hide no member of `document`. Texts are cut before they leave the page.
 */
const script = `(() => {
  const read = (most, text) => {
    try {
      return String(text() ?? "").slice(0, most).toWellFormed();
    } catch {
      return "";
    }
  };
  return {
    title: read(${maxSeenLine}, () => document.title),
    text: read(${maxSeenText}, () => document.body?.innerText ?? document.documentElement.textContent),
    markup: read(${maxSeenText}, () => document.documentElement.outerHTML),
  };
})()`;

/**
 * What a page shows. Rejects when its document goes meanwhile; does not settle while the page's main thread is busy.
 */
export const readPage = async (
  page: Pick<CdpSession, "send">,
  frameId: string,
): Promise<Pick<Visit, "title" | "text" | "markup">> => {
  const { executionContextId } = await page.send("Page.createIsolatedWorld", { frameId });
  const { result } = await page.send("Runtime.evaluate", {
    expression: script,
    contextId: executionContextId,
    returnByValue: true,
  });
  return Read.parse(result.value);
};
