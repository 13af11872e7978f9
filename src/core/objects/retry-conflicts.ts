import { AppError } from "../../platform/base/errors.ts";
import { doubling, retry } from "../../platform/base/retry.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";

/** Tries to write over concurrent changes of the same object, the operator's status among them. */
const maxTries = 8;

/** Longest pause before the second try, ms; doubled for each further one, with chance in it, so that rivals don't meet again. */
const firstRetryMs = 10;
const longestPauseMs = doubling(firstRetryMs);

const isConflict = (error: unknown): boolean => hasReason(error, "Conflict");

/**
 * Does `readAndWrite` again when somebody else wrote in between, each time from the newest version. Throws `unavailable` when
 * that happens all the time; `what`: the object, for people, e.g. `the pool`.
 */
export const retryConflicts = async <T>(what: string, readAndWrite: () => Promise<T>): Promise<T> => {
  try {
    return await retry(readAndWrite, {
      isCurable: isConflict,
      pauseMs: (failures) => longestPauseMs(failures) * Math.random(),
      tries: maxTries,
    });
  } catch (error) {
    if (!isConflict(error)) throw error;
    throw new AppError("unavailable", `${what} is being changed by others; repeat the request`, {
      retryAfterSeconds: 1,
    });
  }
};
