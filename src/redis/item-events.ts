/**
 * What was done with a vault item, for audits: a stream per item, bounded, without values. Who reads gets the newest
 * thousand or so of the last month.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { RedisConnection } from "./connection.ts";
import { itemEventsKey } from "./keys.ts";
import { orUnavailable } from "./or-unavailable.ts";
import { retryBriefly } from "./while-unavailable.ts";

/** One thing that was done with an item. Holds no value, no selector and nothing of a page but its origin. */
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
  /** At most so many. */
  limit: number;
  /** How long to wait for one when there is none, ms. */
  waitMs: number;
};

export type ItemEvents = {
  /** Throws `unavailable`. An append that is repeated after a lost answer may stand there twice. */
  append(itemUid: string, event: ItemEvent): Promise<void>;
  /** Oldest first. Throws `unavailable`; the reason of `signal` when it is aborted during the wait. */
  read(itemUid: string, query: EventsQuery, signal: AbortSignal): Promise<StoredItemEvent[]>;
};

/** Events that are kept of one item, about; Redis drops whole blocks of older ones. */
const keptEvents = 1000;

/** An item that nothing was done with for so long, s, has no events: 30 days. */
const keptSeconds = 30 * 24 * 60 * 60;

/** Time between two looks of a waiting reader, ms. Reads that block would need a connection each. */
const lookEveryMs = 250;

const parse = ([id, [, text = ""]]: [string, string[]]): StoredItemEvent => ({
  id,
  time: new Date(Number(id.split("-")[0])).toISOString(),
  ...ItemEvent.parse(JSON.parse(text)),
});

export const createItemEvents = (redis: RedisConnection): ItemEvents => {
  const look = async (itemUid: string, { after, limit }: EventsQuery): Promise<StoredItemEvent[]> => {
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
        const events = await look(itemUid, query);
        const leftMs = untilMs - performance.now();
        if (events.length > 0 || leftMs <= 0) return events;
        await sleep(Math.min(lookEveryMs, leftMs), undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
};
