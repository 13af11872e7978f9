import { z } from "zod";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { callInFrame, type Frame, unlessGone } from "./frames.ts";

const Findings = z.object({
  /** The document's URL, fragment included. */
  url: z.string(),
  origin: z.string(),
  /** Whether the document has the keyboard's focus: false in a tab in the background. */
  hasFocus: z.boolean(),
  /** One for each selector: how many elements match it, and the ids of at most two editable fields among or in them. */
  found: z.array(z.object({ isValid: z.boolean(), matched: z.int(), editable: z.array(z.int()).max(2) })),
});

/** The findings of one frame for each selector. */
export type FrameFields = z.infer<typeof Findings> & { frame: Frame };

type LocateRequest = {
  selectors: string[];
  /**
   * Time from now in which the page accepts writes, ms: a page that hangs for longer must not write after the caller has given up.
   */
  limitMs: number;
};

/** Searches all frames at once for all selectors. It leaves out frames that are gone or can't answer. */
export const locateFields = async (
  cdp: CdpConnection,
  frames: Frame[],
  { selectors, limitMs }: LocateRequest,
): Promise<FrameFields[]> => {
  const located = frames.map(async (frame) => {
    const answer = Findings.safeParse(await unlessGone(callInFrame(cdp, frame, "find", [selectors, limitMs])));
    return answer.success ? [{ ...answer.data, frame }] : [];
  });
  return (await Promise.all(located)).flat();
};
