import { writeFile } from "node:fs/promises";
import type { Logger } from "../../platform/base/log.ts";
import type { Termination } from "../protocol/agent-api.ts";

const maxMessageChars = 500;
/** The beginning of a long message says what failed; its end, the last lines of a program's stderr, says why. */
const keptFromStart = 150;

const shorten = (message: string): string => {
  if (message.length <= maxMessageChars) return message;
  const separator = " […] ";
  const keptFromEnd = maxMessageChars - keptFromStart - separator.length;
  return message.slice(0, keptFromStart) + separator + message.slice(-keptFromEnd);
};

/** Writes why the agent ends. Writes in place, because in a pod the file is a mount. A failure is logged and not fatal. */
export const writeTermination = async (file: string, { reason, message }: Termination, log: Logger): Promise<void> => {
  const termination: Termination = { reason, message: shorten(message) };
  try {
    await writeFile(file, JSON.stringify(termination));
  } catch (error) {
    log.warn({ err: error }, "the termination message could not be written");
  }
};
