import { z } from "zod";
import type { Logger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { followChannel } from "../../platform/redis/follow-channel.ts";
import { poolsChannel } from "./pool-keys.ts";

/** `urgent`: a browser waits to be destroyed; else only counts moved. */
export type PoolChange = { poolUid: string; urgent: boolean };

const Message = z.object({ pool: z.string(), urgent: z.boolean() });

/** Calls `onChange` for every pool that a script changed. The operator's resync makes up for messages lost in a reconnect. */
export const followPoolChanges = (
  subscriber: RedisConnection,
  onChange: (change: PoolChange) => void,
  log: Logger,
): Promise<void> =>
  followChannel(subscriber, poolsChannel, (text) => {
    try {
      const { pool, urgent } = Message.parse(JSON.parse(text));
      onChange({ poolUid: pool, urgent });
    } catch (err) {
      log.error({ err }, "a change of a pool could not be read");
    }
  });
