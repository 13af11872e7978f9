import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";

/** Tries to write over concurrent changes of the same object, the operator's status among them. */
const maxTries = 8;

/** Pause before the second try, ms; doubled for each further one, with chance in it, so that rivals don't meet again. */
const firstRetryMs = 5;

/**
 * Does `readAndWrite` again when somebody else wrote in between, each time from the newest version. Throws `unavailable` when
 * that happens all the time; `what`: the object, for people, e.g. `the pool`.
 */
export const retryConflicts = async <T>(what: string, readAndWrite: () => Promise<T>): Promise<T> => {
  for (let tries = 0; tries < maxTries; tries++) {
    if (tries > 0) await sleep(firstRetryMs * 2 ** tries * Math.random());
    try {
      return await readAndWrite();
    } catch (error) {
      if (!hasReason(error, "Conflict")) throw error;
    }
  }
  throw new AppError("unavailable", `${what} is being changed by others; repeat the request`, { retryAfterSeconds: 1 });
};
