/** A step of the set-up that can't go on: what failed and what the reader can do about it. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";

  /**
   * @param {string} message what failed, one line
   * @param {{ wayOut: string, logTail?: string[], cause?: unknown }} details `wayOut`: what to do, one or more lines;
   *   `logTail`: the last lines that the failed tool printed
   */
  constructor(message, { wayOut, logTail = [], cause }) {
    super(message, { cause });
    this.wayOut = wayOut;
    this.logTail = logTail;
  }
}
