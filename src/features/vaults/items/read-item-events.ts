import type { Project } from "../../../core/projects/projects.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchItem, type ItemPath } from "./fetch-item.ts";
import type { EventsQuery, ItemEvents, StoredItemEvent } from "./item-events.ts";

/** The events of an item, oldest first; waits for the first event when there is none. Throws `not_found`. */
export const readItemEvents = async (
  path: ItemPath,
  { project, query, signal }: { project: Project; query: EventsQuery; signal: AbortSignal },
  deps: { itemEvents: ItemEvents; kube: Kube },
): Promise<StoredItemEvent[]> => {
  const { item } = await fetchItem(path, project, deps);
  return deps.itemEvents.read(item.metadata.uid, query, signal);
};
