import type { Identity } from "../../core/api/announced.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import type { Change } from "../../platform/kube/reflector.ts";

/** What became of an object for who reads its kind: one that is being deleted counts as gone, as in lists. */
type ObjectChange = { event: "created" | "changed" | "deleted"; identity: Identity };

/** Tells what a change of a watch means; undefined for one that no reader of lists sees. */
export const createObjectChanges = <T extends NamespacedObject>(identify: (object: T) => Identity) => {
  const known = new Map<string, Identity>();
  return (object: T, change: Change): ObjectChange | undefined => {
    const { uid, deletionTimestamp } = object.metadata;
    const before = known.get(uid);
    if (change === "DELETED" || deletionTimestamp !== undefined) {
      known.delete(uid);
      return before && { event: "deleted", identity: before };
    }
    const identity = identify(object);
    known.set(uid, identity);
    return { event: before ? "changed" : "created", identity };
  };
};
