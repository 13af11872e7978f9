import type { ServerResponse } from "node:http";

/**
 * Calls `end` when the answer is over or its caller is gone: at once, if that has happened already. What is counted
 * after a wait must be given back by this: a caller that hung up meanwhile brings no further "close".
 */
export const whenClosed = (response: ServerResponse, end: () => void): void => {
  if (response.closed) end();
  else response.once("close", end);
};
