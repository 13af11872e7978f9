import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import { type Change, type Reflector, startReflector } from "../../platform/kube/reflector.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

/**
 * All objects of a kind in the organization, kept up to date by a watch, for requests that wait for a change of one.
 */
export type WatchedObjects<T extends NamespacedObject> = Reflector<T> & {
  /** Calls `listener` for every change of this object that the watch shows. Returns a function that unsubscribes. */
  listen(uid: string, listener: (object: T) => void): () => void;
  /** The same for every object. */
  listenToAll(listener: (object: T, change: Change) => void): () => void;
};

/** Starts the watch. It finds nothing before `synced` has resolved. */
export const startWatchedObjects = <T extends NamespacedObject>({
  kube,
  type,
  log,
}: {
  kube: Kube;
  type: ResourceType<T>;
  log: Logger;
}): WatchedObjects<T> => {
  const listeners = new Map<string, Set<(object: T) => void>>();
  const ofAll = new Set<(object: T, change: Change) => void>();
  const onChange = (object: T, change: Change): void => {
    for (const listener of [...(listeners.get(object.metadata.uid) ?? [])]) listener(object);
    for (const listener of [...ofAll]) listener(object, change);
  };
  const reflector = startReflector<T>({ kube, type, log, onChange });
  return {
    ...reflector,
    listen(uid, listener) {
      const known = listeners.get(uid) ?? new Set();
      listeners.set(uid, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(uid) === known) listeners.delete(uid);
      };
    },
    listenToAll(listener) {
      ofAll.add(listener);
      return () => ofAll.delete(listener);
    },
  };
};
