/** A wrong command line; its message says what is wrong. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What `parse` makes of the command line. Throws a `UsageError` with the message of what it throws. */
export const orUsageError = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
};
