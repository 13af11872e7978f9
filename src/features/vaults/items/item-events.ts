/**
 * What was done with a vault item, for audits, without secret values. An item has two bounded streams: one for refused
 * fills, so that a flood of them can't push out the rest, and one for all other events. A reader gets both as one:
 * about the newest thousand events and two hundred refusals of the last month.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { RedisConnection } from "../../../platform/redis/connection.ts";
import { itemEventsKey, itemRefusalsKey } from "../../../platform/redis/keys.ts";
import { orUnavailable, retryBriefly } from "../../../platform/redis/or-unavailable.ts";
import { loadScript, runScript } from "../../../platform/redis/script.ts";
import { FillAnswer } from "../fill/fill-wire.ts";
import type { VaultItem } from "./vault-item.ts";

/** One thing that was done with an item. It holds no secret value, no selector and nothing of a page but its origin. */
const ItemEvent = z.object({
  type: z.enum(["created", "deleted", "fill"]),
  /** The API key that asked. */
  actor: z.object({ id: z.string(), name: z.string().optional() }),
  /** The item's key in its vault. */
  item: z.string(),
  browser_id: z.string().optional(),
  /** Origin of the page, e.g. `https://shop.example`. */
  origin: z.string().max(300).optional(),
  /** How it ended, one word, e.g. `completed`. */
  outcome: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .optional(),
});
export type ItemEvent = z.infer<typeof ItemEvent>;

/** `id` rises from event to event; `time`: RFC 3339. */
export type StoredItemEvent = ItemEvent & { id: string; time: string };

export type EventsQuery = {
  /** Only events after the one of this id. */
  after?: string | undefined;
  /** At most this many. */
  limit: number;
  /** How long to wait for an event when there is none, ms. */
  waitMs: number;
};

export type ItemEvents = {
  /**
   * `isRefusal`: whether the event is that of a fill that was refused. Throws `unavailable`. When Redis' answer is
   * lost, the stream may get the event twice.
   */
  append(itemUid: string, event: ItemEvent, options?: { isRefusal?: boolean }): Promise<void>;
  /** Oldest first. Throws `unavailable`; the reason of `signal` when it is aborted during the wait. */
  read(itemUid: string, query: EventsQuery, signal: AbortSignal): Promise<StoredItemEvent[]>;
};

/** Events of one item that Redis keeps besides refused fills, roughly: it drops older ones in whole blocks. */
const keptEvents = 1000;

/** Refused fills of one item that Redis keeps, roughly. */
const keptRefusals = 200;

/** Redis drops the stream of an item when no event is added for this long, s: 30 days. */
const keptSeconds = 30 * 24 * 60 * 60;

/** Time between two polls of a waiting reader, ms. Blocking reads would need a connection each. */
const pollMs = 250;

const appendScript = loadScript("append-item-event", import.meta.url);
const readScript = loadScript("read-item-events", import.meta.url);

const Entries = z.array(z.tuple([z.string(), z.tuple([z.literal("event"), z.string()])]));

/** An id as its two numbers. */
const numbersOf = (id: string): [ms: number, seq: number] => {
  const [ms, seq] = id.split("-");
  return [Number(ms), Number(seq)];
};

const byId = (a: { id: string }, b: { id: string }): number => {
  const [[msA, seqA], [msB, seqB]] = [numbersOf(a.id), numbersOf(b.id)];
  return msA - msB || seqA - seqB;
};

const parse = ([id, [, text]]: z.infer<typeof Entries>[number]): StoredItemEvent => ({
  id,
  time: new Date(numbersOf(id)[0]).toISOString(),
  ...ItemEvent.parse(JSON.parse(text)),
});

/** Events in this Redis, two streams for each item. */
export const createItemEvents = (redis: RedisConnection): ItemEvents => {
  const findEvents = async (itemUid: string, { after, limit }: EventsQuery): Promise<StoredItemEvent[]> => {
    const keys = [itemEventsKey(itemUid), itemRefusalsKey(itemUid)];
    const from = after === undefined ? "-" : `(${after}`;
    const entries = Entries.parse(await orUnavailable(runScript(redis, readScript, keys, [from, limit])));
    return entries.map(parse).sort(byId).slice(0, limit);
  };
  return {
    async append(itemUid, event, { isRefusal = false } = {}) {
      const text = JSON.stringify(ItemEvent.parse(event));
      const [main, refusals] = [itemEventsKey(itemUid), itemRefusalsKey(itemUid)];
      const [keys, kept] = isRefusal ? [[refusals, main], keptRefusals] : [[main, refusals], keptEvents];
      await retryBriefly(() => orUnavailable(runScript(redis, appendScript, keys, [kept, text, keptSeconds])));
    },
    async read(itemUid, query, signal) {
      const untilMs = performance.now() + query.waitMs;
      for (;;) {
        const events = await findEvents(itemUid, query);
        const leftMs = untilMs - performance.now();
        if (events.length > 0 || leftMs <= 0) return events;
        await sleep(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
};

/** The API key of a request, in the form of events. */
const actorOf = ({ keyId }: Principal, { apiKeys }: { apiKeys: ApiKeys }): ItemEvent["actor"] => {
  const name = apiKeys.find(keyId)?.name;
  return { id: keyId, ...(name !== undefined && { name }) };
};

/** A fill that has written nothing ends with the code of an error instead of a status. */
const isRefusal = ({ type, outcome }: Pick<ItemEvent, "type" | "outcome">): boolean =>
  type === "fill" && !FillAnswer.shape.status.safeParse(outcome).success;

/**
 * Records what a request did with an item. An event that can't be written is only logged: the action itself is already
 * done.
 */
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
