import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { ErrorCode } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type ItemEvents, noteItemEvent } from "../items/item-events.ts";
import { fetchItem, type ItemPath } from "../items/items.ts";

/**
 * Records a fill that was refused before the item was looked up, such as one with a malformed body, if there is such an
 * item. Nothing of the body is recorded. Never rejects: the refusal is answered in any case.
 */
export const noteRefusedFill = async (
  { path, project, principal, code }: { path: ItemPath; project: Project; principal: Principal; code: ErrorCode },
  deps: { apiKeys: ApiKeys; itemEvents: ItemEvents; kube: Kube; log: Logger },
): Promise<void> => {
  try {
    const { item } = await fetchItem(path, project, deps);
    await noteItemEvent(item, { type: "fill", principal, outcome: code }, deps);
  } catch (err) {
    deps.log.debug({ err }, "a refused fill has no item to note it at");
  }
};
