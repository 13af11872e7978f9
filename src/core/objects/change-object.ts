import { AppError } from "../../platform/base/errors.ts";
import { doubling, retry } from "../../platform/base/retry.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { KubeObject, Ref } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

/** Tries to write over concurrent changes of the same object, the operator's status among them. */
const maxTries = 8;

/**
 * Longest pause before the second try, ms; doubled for each further one, with chance in it, so that rivals don't meet
 * again.
 */
const firstRetryMs = 10;
const longestPauseMs = doubling(firstRetryMs);

const isConflict = (error: unknown): boolean => hasReason(error, "Conflict");

/**
 * Does `readAndWrite` again when somebody else wrote in between, each time from the newest version. Throws
 * `unavailable` when that happens all the time; `what`: the object, for people, e.g. `the pool`.
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

/** A JSON merge patch; `null` removes an entry. */
export type MergePatch = {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> };
  data?: Record<string, string | null>;
};

/**
 * Fetches an object, asks `change` for a patch, and writes it. If the object has changed meanwhile, it starts again, a
 * few times. `change` may throw to give up. Returns undefined when there is no such object.
 */
export const changeObject = async <T extends KubeObject>(
  kube: Kube,
  type: ResourceType<T>,
  ref: Ref,
  change: (current: T) => MergePatch,
): Promise<T | undefined> =>
  retryConflicts(`${type.kind} ${ref.name}`, async () => {
    const current = await kube.get(type, ref);
    if (!current) return undefined;
    const { resourceVersion } = current.metadata;
    const patch = change(current);
    try {
      return await kube.patch(type, ref, { ...patch, metadata: { ...patch.metadata, resourceVersion } });
    } catch (error) {
      if (hasReason(error, "NotFound")) return undefined;
      throw error;
    }
  });
