import type { Principal } from "../../../core/api-keys/api-keys.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { ServiceDeps } from "../../../core/service-deps.ts";
import type { ErrorCode } from "../../../platform/base/errors.ts";
import { fetchItem, type ItemPath } from "../items/fetch-item.ts";
import { noteItemEvent } from "../items/item-event.ts";

/**
 * Records a fill that was refused before the item was looked up, such as one with a malformed body, if there is such an item. Nothing
 * of the body is recorded. Never rejects: the refusal is answered in any case.
 */
export const noteRefusedFill = async (
  { path, project, principal, code }: { path: ItemPath; project: Project; principal: Principal; code: ErrorCode },
  deps: Pick<ServiceDeps, "kube" | "apiKeys" | "itemEvents" | "log">,
): Promise<void> => {
  try {
    const { item } = await fetchItem(path, project, deps);
    await noteItemEvent(item, { type: "fill", principal, outcome: code }, deps);
  } catch (err) {
    deps.log.debug({ err }, "a refused fill has no item to note it at");
  }
};
