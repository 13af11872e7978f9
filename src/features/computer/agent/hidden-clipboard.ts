/**
 * The clipboard of a browser without a screen, which only its pages reach: a hidden page of our own copies and pastes.
 * Clients see it come and go.
 */
import { ownPageUrl } from "../../../core/agent/page-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { Clipboard } from "./hands.ts";

const timeoutMs = 5000;

/** Copies by the page's own event, so that an empty text can be written too. */
const copying = (text: string): string => `
  document.addEventListener("copy", (event) => {
    event.clipboardData.setData("text/plain", ${JSON.stringify(text)});
    event.preventDefault();
  });
  document.execCommand("copy")`;

const waiting = `document.body.append(document.createElement("textarea")), document.querySelector("textarea").focus()`;
const pasted = `document.querySelector("textarea").value`;

/** `clear`: empties it, if something was written. */
type HiddenClipboard = Clipboard & { clear(): Promise<void> };

/** Of the browser at the other end. */
export const createHiddenClipboard = (cdp: CdpConnection): HiddenClipboard => {
  let isWritten = false;
  /** Runs `work` in a page that has the focus, but nobody sees. */
  const inPage = async <T>(work: (call: { sessionId: string; timeoutMs: number }) => Promise<T>): Promise<T> => {
    const { targetId } = await cdp.send("Target.createTarget", { url: ownPageUrl, hidden: true }, { timeoutMs });
    try {
      const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs });
      const call = { sessionId, timeoutMs };
      await cdp.send("Emulation.setFocusEmulationEnabled", { enabled: true }, call);
      return await work(call);
    } finally {
      await cdp.send("Target.closeTarget", { targetId }, { timeoutMs });
    }
  };
  const write = (text: string): Promise<void> =>
    inPage(async (call) => {
      const { result } = await cdp.send("Runtime.evaluate", { expression: copying(text), userGesture: true }, call);
      if (result.value !== true) throw new Error("the browser did not copy");
      isWritten = true;
    });
  return {
    write,
    clear: async () => (isWritten ? write("") : undefined),
    read: () =>
      inPage(async (call) => {
        await cdp.send("Runtime.evaluate", { expression: waiting }, call);
        const paste = { type: "rawKeyDown" as const, key: "v", code: "KeyV", commands: ["paste"] };
        await cdp.send("Input.dispatchKeyEvent", paste, call);
        const { result } = await cdp.send("Runtime.evaluate", { expression: pasted, returnByValue: true }, call);
        return String(result.value);
      }),
  };
};
