/** What several connections to a browser do with their commands. */
import type { CdpConnection } from "./cdp-connection.ts";
import { CdpRefused } from "./cdp-errors.ts";

/** For a command whose answer nobody needs: what it is for may be gone. */
export const tell = (answer: Promise<unknown>): void => void answer.catch(() => undefined);

/** Undefined when the browser refuses the command: what it is for is gone. */
export const unlessGone = async <Result>(answer: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CdpRefused) return undefined;
    throw error;
  }
};

/** Parameters of `Network.enable`: the browser keeps no bodies for this connection. */
export const noBodies = { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 };

/** The world of the agent's scripts in a frame: the page neither sees nor changes what they do. */
const worldName = "browserpool";

/** `sessionId`: the caller's own, of the page. `timeoutMs`: for each of the two commands. */
type Apart = { sessionId: string; frameId: string; timeoutMs: number };

/**
 * The value of an expression in a frame, or of its promise, in a world of the agent's own. Rejects when the frame is gone or gives no
 * answer in time.
 */
export const evaluateApart = async (
  cdp: CdpConnection,
  expression: string,
  { sessionId, frameId, timeoutMs }: Apart,
): Promise<unknown> => {
  const call = { sessionId, timeoutMs };
  const { executionContextId: contextId } = await cdp.send("Page.createIsolatedWorld", { frameId, worldName }, call);
  const evaluation = { expression, contextId, returnByValue: true, awaitPromise: true };
  const { result } = await cdp.send("Runtime.evaluate", evaluation, call);
  return result.value;
};

/** The same in the main frame of a page. */
export const evaluateInPage = async (
  cdp: CdpConnection,
  expression: string,
  call: Omit<Apart, "frameId">,
): Promise<unknown> => {
  const { frameTree } = await cdp.send("Page.getFrameTree", undefined, call);
  return evaluateApart(cdp, expression, { ...call, frameId: frameTree.frame.id });
};
