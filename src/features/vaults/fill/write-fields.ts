import { z } from "zod";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused } from "../../../platform/cdp/cdp-errors.ts";
import type { Target } from "./choose-targets.ts";
import type { Binding, FieldError, FieldResult } from "./fill-result.ts";
import { fieldErrors } from "./fill-wire.ts";
import { callInFrame, type Frame } from "./frames.ts";

type Outcome = Pick<FieldResult, "status" | "error_code">;

/** A binding with its field. */
export type Write = { target: Target; binding: Binding };

/** The browser's messages for a call that has not begun: the document or its session was already gone. */
const notBegun = [
  "Cannot find context with specified id",
  "Could not find object with given id",
  "Session with given id not found.",
];

const failed = (code: FieldError): Outcome => ({ status: "failed", error_code: code });

const notAttempted: Outcome = { status: "not_attempted" };

/** The page's answer to a write. */
const Answer = z.object({
  /** Why the field isn't filled. */
  problem: z.enum(fieldErrors).optional(),
  /** Whether a navigation is about to replace the frame's document. */
  isLeaving: z.boolean(),
  /** Whether it may be, which only `leaves` can tell. */
  mayLeave: z.boolean(),
});

/** Frames whose documents are on their way out, and those that must be asked before the next write. */
type Going = { leaving: Set<Frame>; unsure: Set<Frame> };

/** Why the connection is closed. `deadline`: aborted when the time is over. */
const lossOf = (deadline: AbortSignal): FieldError => (deadline.aborted ? "timeout" : "execution_failed");

/** The outcome of a write that was sent and has no answer. */
const outcomeWithoutAnswer = (error: unknown, deadline: AbortSignal): Outcome => {
  if (error instanceof CdpRefused)
    return { status: notBegun.includes(error.message) ? "failed" : "unknown", error_code: "target_changed" };
  return { status: "unknown", error_code: lossOf(deadline) };
};

/** Makes the value; undefined when that fails. */
const makeValue = ({ value }: Binding): string | undefined => {
  try {
    return value().reveal();
  } catch {
    return undefined;
  }
};

/**
 * Whether the frame's document is being replaced, or is gone. The call carries no value: when the next document cuts it
 * off, the field is known to be unchanged.
 */
const leaves = async (cdp: CdpConnection, frame: Frame): Promise<boolean> => {
  try {
    return (await callInFrame(cdp, frame, "leaves", [])) !== false;
  } catch {
    return true;
  }
};

/** Whether the document of the frame, or of an ancestor frame, is about to be replaced. */
const isBeingReplaced = async (cdp: CdpConnection, frame: Frame, { leaving, unsure }: Going): Promise<boolean> => {
  for (let each: Frame | undefined = frame; each; each = each.parent) {
    if (unsure.delete(each) && (await leaves(cdp, each))) leaving.add(each);
    if (leaving.has(each)) return true;
  }
  return false;
};

const writeField = async (
  cdp: CdpConnection,
  { target: { frame, id, selector }, binding }: Write,
  { going, deadline }: { going: Going; deadline: AbortSignal },
): Promise<Outcome> => {
  // Until the next document is loaded, the browser may delay messages to this one.
  const isTooLate = await isBeingReplaced(cdp, frame, going);
  if (!cdp.isOpen()) return failed(lossOf(deadline));
  if (isTooLate) return failed("target_changed");
  const value = makeValue(binding);
  if (value === undefined) return failed("execution_failed");
  try {
    const answer = Answer.safeParse(await callInFrame(cdp, frame, "write", [id, selector, value]));
    if (!answer.success) return failed("execution_failed");
    if (answer.data.isLeaving) going.leaving.add(frame);
    if (answer.data.mayLeave) going.unsure.add(frame);
    return answer.data.problem === undefined ? { status: "filled" } : failed(answer.data.problem);
  } catch (error) {
    return outcomeWithoutAnswer(error, deadline);
  }
};

/**
 * Writes the fields one after the other, in order, until one isn't filled; later fields are not attempted. Never
 * rejects. `deadline`: aborted when the time for the whole fill is over, which also cuts the connection.
 */
export const writeFields = async (
  cdp: CdpConnection,
  writes: Write[],
  deadline: AbortSignal,
): Promise<FieldResult[]> => {
  const results: FieldResult[] = [];
  const going: Going = { leaving: new Set(), unsure: new Set() };
  let isStopped = false;
  for (const [index, write] of writes.entries()) {
    const outcome: Outcome = isStopped ? notAttempted : await writeField(cdp, write, { going, deadline });
    isStopped ||= outcome.status !== "filled";
    results.push({ index, ...outcome });
  }
  return results;
};
