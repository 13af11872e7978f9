import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { KubeObject, Ref } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";
import { retryConflicts } from "./retry-conflicts.ts";

/** A JSON merge patch; `null` removes an entry. */
export type MergePatch = {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> };
  data?: Record<string, string | null>;
};

/**
 * Fetches an object, asks `change` for a patch, and writes it. If the object has changed meanwhile, it starts again, a few times.
 * `change` may throw to give up. Returns undefined when there is no such object.
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
