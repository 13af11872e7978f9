import type { Project } from "../../../core/projects/projects.ts";
import type { ServiceDeps } from "../../../core/service-deps.ts";
import { fetchItem, type ItemPath } from "./fetch-item.ts";
import type { EventsQuery, StoredItemEvent } from "./item-events.ts";

/** The events of an item, oldest first; waits for the first event when there is none. Throws `not_found`. */
export const readItemEvents = async (
  path: ItemPath,
  { project, query, signal }: { project: Project; query: EventsQuery; signal: AbortSignal },
  deps: Pick<ServiceDeps, "kube" | "itemEvents">,
): Promise<StoredItemEvent[]> => {
  const { item } = await fetchItem(path, project, deps);
  return deps.itemEvents.read(item.metadata.uid, query, signal);
};
