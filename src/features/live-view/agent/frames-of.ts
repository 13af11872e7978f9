import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { CdpCall } from "../../../platform/cdp/pending-calls.ts";

/** Frames that are asked, the outer ones first. */
const maxFrames = 32;

type Frame = { id: string; origin: string };

const all = ({ frame, childFrames = [] }: Protocol.Page.FrameTree): Frame[] => [
  { id: frame.id, origin: frame.securityOrigin },
  ...childFrames.flatMap(all),
];

/**
 * The frames of a page with their origins. Frames of other sites are not among them: Chromium draws them in processes
 * of their own, which are targets of their own.
 */
export const framesOf = async (cdp: CdpConnection, call: CdpCall): Promise<Frame[]> => {
  const { frameTree } = await cdp.send("Page.getFrameTree", undefined, call);
  return all(frameTree).slice(0, maxFrames);
};
