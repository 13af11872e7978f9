/** The frames of a page, those of other processes too. */
import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "./cdp-connection.ts";
import { CdpTimeout } from "./cdp-errors.ts";
import { unlessGone } from "./commands.ts";

/** `loaderId`: of its present document. `sessionId`: of the process that renders it. `isRoot`: of this session. */
export type PageFrame = {
  frameId: string;
  parentId: string | undefined;
  loaderId: string;
  url: string;
  sessionId: string;
  isRoot: boolean;
};

/** Undefined for a frame that is gone, or whose process gives no answer in time. */
const unlessLost = async <Result>(answer: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await unlessGone(answer);
  } catch (error) {
    if (error instanceof CdpTimeout) return undefined;
    throw error;
  }
};

const framesOf = (
  { frame, childFrames = [] }: Protocol.Page.FrameTree,
  sessionId: string,
  isRoot = true,
): PageFrame[] => {
  const { id: frameId, parentId, loaderId, url } = frame;
  const below = childFrames.flatMap((child) => framesOf(child, sessionId, false));
  return [{ frameId, parentId, loaderId, url, sessionId, isRoot }, ...below];
};

/**
 * The frames that a session's process renders, outer ones first, and the frames of other processes inside them.
 * `timeoutMs`: for each command; frames of another process that need longer are left out.
 */
export const listFrames = async (cdp: CdpConnection, sessionId: string, timeoutMs?: number): Promise<PageFrame[]> => {
  const call = { sessionId, ...(timeoutMs !== undefined && { timeoutMs }) };
  const [tree] = await Promise.all([
    cdp.send("Page.getFrameTree", undefined, call),
    cdp.send(
      "Target.setAutoAttach",
      {
        autoAttach: true,
        waitForDebuggerOnStart: false,
        flatten: true,
        // Only frames of other processes, no workers.
        filter: [{ type: "iframe" }, { exclude: true }],
      },
      call,
    ),
  ]);
  const below = cdp.attachedBelow(sessionId).map((child) => unlessLost(listFrames(cdp, child, timeoutMs)));
  return [...framesOf(tree.frameTree, sessionId), ...(await Promise.all(below)).flatMap((frames) => frames ?? [])];
};
