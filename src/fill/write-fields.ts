import { z } from "zod";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { CdpRefused } from "../cdp/cdp-errors.ts";
import { fieldErrors } from "../resources/fill-wire.ts";
import type { Target } from "./choose-targets.ts";
import type { Binding, FieldError, FieldResult } from "./fill-result.ts";
import { callInFrame, type Frame } from "./frames.ts";

type Outcome = Pick<FieldResult, "status" | "error_code">;

/** A binding with the field that it means. */
export type Write = { target: Target; binding: Binding };

/** The browser's words for a call that has not begun: the document or its session was gone before. */
const notBegun = [
  "Cannot find context with specified id",
  "Could not find object with given id",
  "Session with given id not found.",
];

const failed = (code: FieldError): Outcome => ({ status: "failed", error_code: code });

const notAttempted: Outcome = { status: "not_attempted" };

/** What the page says of a write. */
const Answer = z.object({
  /** Why the field isn't filled. */
  problem: z.enum(fieldErrors).optional(),
  /** Whether the frame's document is on its way to be replaced by another one. */
  isLeaving: z.boolean(),
});

/** Why the connection is closed. `deadline`: aborted when the time is over. */
const lossOf = (deadline: AbortSignal): FieldError => (deadline.aborted ? "timeout" : "execution_failed");

/** What is known of a write that was sent and has no answer. */
const outcomeWithoutAnswer = (error: unknown, deadline: AbortSignal): Outcome => {
  if (error instanceof CdpRefused)
    return { status: notBegun.includes(error.message) ? "failed" : "unknown", error_code: "target_changed" };
  return { status: "unknown", error_code: lossOf(deadline) };
};

/** The value, made now. Undefined when it can't be. */
const makeValue = ({ value }: Binding): string | undefined => {
  try {
    return value().reveal();
  } catch {
    return undefined;
  }
};

/** Whether the frame's document, or one around it, is about to go. */
const isDoomed = (frame: Frame, leaving: Set<Frame>): boolean => {
  for (let each: Frame | undefined = frame; each; each = each.parent) if (leaving.has(each)) return true;
  return false;
};

const writeField = async (
  cdp: CdpConnection,
  { target: { frame, id, selector }, binding }: Write,
  { leaving, deadline }: { leaving: Set<Frame>; deadline: AbortSignal },
): Promise<Outcome> => {
  if (!cdp.isOpen()) return failed(lossOf(deadline));
  // Until the next document is there the browser may keep back what is sent to this one.
  if (isDoomed(frame, leaving)) return failed("target_changed");
  const value = makeValue(binding);
  if (value === undefined) return failed("execution_failed");
  try {
    const answer = Answer.safeParse(await callInFrame(cdp, frame, "write", [id, selector, value]));
    if (!answer.success) return failed("execution_failed");
    if (answer.data.isLeaving) leaving.add(frame);
    return answer.data.problem === undefined ? { status: "filled" } : failed(answer.data.problem);
  } catch (error) {
    return outcomeWithoutAnswer(error, deadline);
  }
};

/**
 * Writes one field after the other, in order, until one isn't filled; those after it are not attempted. Never rejects.
 * `deadline`: aborted when the time for the whole fill is over, which also cuts the connection.
 */
export const writeFields = async (
  cdp: CdpConnection,
  writes: Write[],
  deadline: AbortSignal,
): Promise<FieldResult[]> => {
  const results: FieldResult[] = [];
  const leaving = new Set<Frame>();
  let isStopped = false;
  for (const [index, write] of writes.entries()) {
    const outcome: Outcome = isStopped ? notAttempted : await writeField(cdp, write, { leaving, deadline });
    isStopped ||= outcome.status !== "filled";
    results.push({ index, ...outcome });
  }
  return results;
};
