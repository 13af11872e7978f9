import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";
import type { Kube } from "../kube/client.ts";
import { hasReason } from "../kube/kube-error.ts";
import type { KubeObject, Ref } from "../kube/objects.ts";
import type { ResourceType } from "../kube/resource-type.ts";

/** A JSON merge patch; `null` removes an entry. */
export type MergePatch = {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> };
  data?: Record<string, string | null>;
};

/** Two writers rarely meet more than once; a third meeting in a row means that something writes all the time. */
const maxTries = 5;
const firstRetryMs = 20;

/**
 * Reads an object from the API server, asks `change` what to write, and writes it only if nobody wrote in between;
 * otherwise all of it again, a few times. `change` may throw to give up. Undefined: there is no such object.
 */
export const changeObject = async <T extends KubeObject>(
  kube: Kube,
  type: ResourceType<T>,
  ref: Ref,
  change: (current: T) => MergePatch,
): Promise<T | undefined> => {
  for (let tries = 0; tries < maxTries; tries++) {
    if (tries > 0) await sleep(firstRetryMs * 2 ** tries * (0.5 + Math.random()));
    const current = await kube.get(type, ref);
    if (!current) return undefined;
    const { resourceVersion } = current.metadata;
    const patch = change(current);
    try {
      return await kube.patch(type, ref, { ...patch, metadata: { ...patch.metadata, resourceVersion } });
    } catch (error) {
      if (hasReason(error, "NotFound")) return undefined;
      if (!hasReason(error, "Conflict")) throw error;
    }
  }
  throw new AppError("conflict", `${type.kind} ${ref.name} is being changed by others; repeat the request`);
};
