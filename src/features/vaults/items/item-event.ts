import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { FillAnswer } from "../fill/fill-wire.ts";
import type { ItemEvent, ItemEvents } from "./item-events.ts";
import type { VaultItem } from "./vault-item.ts";

/** The API key of a request, in the form of events. */
const actorOf = ({ keyId }: Principal, { apiKeys }: { apiKeys: ApiKeys }): ItemEvent["actor"] => {
  const name = apiKeys.find(keyId)?.name;
  return { id: keyId, ...(name !== undefined && { name }) };
};

/** A fill that has written nothing ends with the code of an error instead of a status. */
const isRefusal = ({ type, outcome }: Pick<ItemEvent, "type" | "outcome">): boolean =>
  type === "fill" && !FillAnswer.shape.status.safeParse(outcome).success;

/** Records what a request did with an item. An event that can't be written is only logged: the action itself is already done. */
export const noteItemEvent = async (
  item: VaultItem,
  event: Omit<ItemEvent, "actor" | "item"> & { principal: Principal },
  deps: { apiKeys: ApiKeys; itemEvents: ItemEvents; log: Logger },
): Promise<void> => {
  const { principal, ...rest } = event;
  try {
    const noted = { ...rest, item: item.spec.key, actor: actorOf(principal, deps) };
    await deps.itemEvents.append(item.metadata.uid, noted, { isRefusal: isRefusal(rest) });
  } catch (err) {
    deps.log.warn({ err, item: item.metadata.name, type: event.type }, "an item's event could not be kept");
  }
};
