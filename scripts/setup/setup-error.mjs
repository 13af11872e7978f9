/** A step of the set-up has failed: says what failed and what the user can do. */
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
