import { z } from "zod";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { unlessGone } from "../../../platform/cdp/commands.ts";
import { callInFrame, type Frame } from "./frames.ts";

const Findings = z.object({
  /** The document's URL, fragment included. */
  url: z.string(),
  origin: z.string(),
  /** Whether the document has the keyboard's focus: false in a tab in the background. */
  hasFocus: z.boolean(),
  /** Whether a script of the document may change its fields. */
  isScripted: z.boolean(),
  /**
   * One for each selector: how many elements match it, and the ids of at most two editable fields among or in them, and
   * of two that are read-only.
   */
  found: z.array(
    z.object({
      isValid: z.boolean(),
      matched: z.int(),
      editable: z.array(z.int()).max(2),
      locked: z.array(z.int()).max(2),
    }),
  ),
});

/** The findings of one frame for each selector. */
export type FrameFields = z.infer<typeof Findings> & { frame: Frame };

type LocateRequest = {
  selectors: string[];
  /**
   * Time from now in which the page accepts writes, ms: a page that hangs for longer must not write after the caller
   * has given up.
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

const Unlocked = z.array(z.int());

/**
 * The findings of a frame, with read-only fields among the editable ones that can be written into once they have the
 * focus.
 */
const unlockFrame = async (cdp: CdpConnection, located: FrameFields): Promise<FrameFields> => {
  const ids = [...new Set(located.found.flatMap(({ locked }) => locked))];
  if (ids.length === 0) return located;
  const able = Unlocked.safeParse(await unlessGone(callInFrame(cdp, located.frame, "unlock", [ids]))).data ?? [];
  const found = located.found.map((one) => ({
    ...one,
    editable: [...one.editable, ...one.locked.filter((id) => able.includes(id))].slice(0, 2),
  }));
  return { ...located, found };
};

/** Read-only fields count as editable, untouched: the frame is refused for them. */
const refusedFrame = (located: FrameFields): FrameFields => ({
  ...located,
  found: located.found.map((one) => ({ ...one, editable: [...one.editable, ...one.locked].slice(0, 2) })),
});

/**
 * Gives read-only fields the focus where a selector has no editable field in any frame: many pages make a field
 * writable only then, to keep browsers from filling it. Nothing is written. A frame that may not be filled notices
 * nothing.
 */
export const unlockFields = async (
  cdp: CdpConnection,
  located: FrameFields[],
  isAllowed: (frame: Frame) => boolean,
): Promise<FrameFields[]> => {
  const hasField = (index: number): boolean => located.some(({ found }) => (found[index]?.editable.length ?? 0) > 0);
  const wanted = located.map((one) => ({
    ...one,
    found: one.found.map((finding, index) => (hasField(index) ? { ...finding, locked: [] } : finding)),
  }));
  const unlocked: FrameFields[] = [];
  // One after the other: the focus is in one frame at a time.
  for (const one of wanted) unlocked.push(isAllowed(one.frame) ? await unlockFrame(cdp, one) : refusedFrame(one));
  return unlocked;
};
