/** A step of the set-up has failed: says what failed and what the user can do. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";

  /**
   * @param {string} message what failed, one line
   * @param {{ wayOut: string, logTail?: string[], logFile?: string, exitCode?: number, cause?: unknown }} details
   *   `wayOut`: what to do, one or more lines; `logTail`: the last lines that the failed tool printed, `logFile`: where
   *   all are; `exitCode`: of the set-up, by default 1; 2: nothing was begun
   */
  constructor(message, { wayOut, logTail = [], logFile, exitCode = 1, cause }) {
    super(message, { cause });
    this.wayOut = wayOut;
    this.logTail = logTail;
    this.logFile = logFile;
    this.exitCode = exitCode;
  }
}
