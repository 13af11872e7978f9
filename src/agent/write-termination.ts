import { writeFile } from "node:fs/promises";
import type { Logger } from "../log.ts";
import type { Termination } from "../protocol/agent-api.ts";

const maxMessageChars = 500;
/** Of a message that is too long the beginning says what failed, and its end why: the last lines of a program's stderr. */
const keptFromStart = 150;

const shorten = (message: string): string => {
  if (message.length <= maxMessageChars) return message;
  const separator = " […] ";
  const keptFromEnd = maxMessageChars - keptFromStart - separator.length;
  return message.slice(0, keptFromStart) + separator + message.slice(-keptFromEnd);
};

/** Writes why the agent ends, in place: in a pod the file is a mount. A file that cannot be written is logged, not fatal. */
export const writeTermination = async (file: string, { reason, message }: Termination, log: Logger): Promise<void> => {
  const termination: Termination = { reason, message: shorten(message) };
  try {
    await writeFile(file, JSON.stringify(termination));
  } catch (error) {
    log.warn({ err: error }, "the termination message could not be written");
  }
};
