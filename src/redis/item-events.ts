/**
 * What was done with a vault item, for audits: one bounded stream for each item, without secret values. A reader gets about the
 * newest thousand events of the last month.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { RedisConnection } from "./connection.ts";
import { itemEventsKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { retryBriefly } from "./while-unavailable.ts";

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
  /** Throws `unavailable`. When Redis' answer is lost, the stream may get the event twice. */
  append(itemUid: string, event: ItemEvent): Promise<void>;
  /** Oldest first. Throws `unavailable`; the reason of `signal` when it is aborted during the wait. */
  read(itemUid: string, query: EventsQuery, signal: AbortSignal): Promise<StoredItemEvent[]>;
};

/** Events of one item that Redis keeps, roughly: it drops older ones in whole blocks. */
const keptEvents = 1000;

/** Redis drops the stream of an item when no event is added for this long, s: 30 days. */
const keptSeconds = 30 * 24 * 60 * 60;

/** Time between two polls of a waiting reader, ms. Blocking reads would need a connection each. */
const pollMs = 250;

const parse = ([id, [, text = ""]]: [string, string[]]): StoredItemEvent => ({
  id,
  time: new Date(Number(id.split("-")[0])).toISOString(),
  ...ItemEvent.parse(JSON.parse(text)),
});

/** Events in this Redis, one stream for each item. */
export const createItemEvents = (redis: RedisConnection): ItemEvents => {
  const findEvents = async (itemUid: string, { after, limit }: EventsQuery): Promise<StoredItemEvent[]> => {
    const from = after === undefined ? "-" : `(${after}`;
    const entries = await orUnavailable(redis.xrange(itemEventsKey(itemUid), from, "+", "COUNT", limit));
    return entries.map(parse);
  };
  return {
    async append(itemUid, event) {
      const key = itemEventsKey(itemUid);
      const text = JSON.stringify(ItemEvent.parse(event));
      await retryBriefly(() => orUnavailable(redis.xadd(key, "MAXLEN", "~", keptEvents, "*", "event", text)));
      await orUnavailable(redis.expire(key, keptSeconds));
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
