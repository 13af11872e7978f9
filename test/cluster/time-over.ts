/** Something did not come to be within its time. Only this can be the machine's fault alone. */
export class TimeOver extends Error {
  override name = "TimeOver";
}

/** How kubectl and helm say it. */
const saidByPrograms = /timed out waiting|context deadline exceeded/;

export const isTimeOver = (error: unknown): boolean =>
  error instanceof TimeOver || (error instanceof Error && saidByPrograms.test(error.message));
