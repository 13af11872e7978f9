import { type KubeObject, keyOf } from "./objects.ts";
import type { Change } from "./reflector.ts";

/** The objects of a reflector by a text that each of them carries, such as a label. */
export type ObjectGroups<T extends KubeObject> = {
  /** To be told of each change that the reflector reports. */
  note(object: T, change: Change): void;
  /** The objects of one group, in no order. The cost grows with the group, not with the number of all objects. */
  of(group: string): T[];
  /** How many objects are in any group. */
  size(): number;
};

/** No objects yet. `groupOf`: the group of an object; "" for none. */
export const createObjectGroups = <T extends KubeObject>(groupOf: (object: T) => string): ObjectGroups<T> => {
  const groups = new Map<string, Map<string, T>>();
  const groupByKey = new Map<string, string>();
  const drop = (key: string): void => {
    const group = groupByKey.get(key) ?? "";
    groupByKey.delete(key);
    const objects = groups.get(group);
    objects?.delete(key);
    if (objects?.size === 0) groups.delete(group);
  };
  return {
    note(object, change) {
      const key = keyOf(object.metadata);
      const group = change === "DELETED" ? "" : groupOf(object);
      if (groupByKey.get(key) !== group) drop(key);
      if (!group) return;
      const objects = groups.get(group) ?? new Map<string, T>();
      groups.set(group, objects.set(key, object));
      groupByKey.set(key, group);
    },
    of: (group) => [...(groups.get(group)?.values() ?? [])],
    size: () => groupByKey.size,
  };
};
