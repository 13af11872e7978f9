import { z } from "zod";
import type { Logger } from "../log.ts";
import type { RedisConnection } from "../redis/connection.ts";
import { poolsChannel } from "./pool-keys.ts";

/** `urgent`: a browser waits to be destroyed; else only counts moved. */
export type PoolChange = { poolUid: string; urgent: boolean };

const Message = z.object({ pool: z.string(), urgent: z.boolean() });

/** Calls `onChange` for every pool that a script changed. The operator's resync makes up for messages lost in a reconnect. */
export const followPoolChanges = async (
  subscriber: RedisConnection,
  onChange: (change: PoolChange) => void,
  log: Logger,
): Promise<void> => {
  subscriber.on("message", (_channel: string, text: string) => {
    try {
      const { pool, urgent } = Message.parse(JSON.parse(text));
      onChange({ poolUid: pool, urgent });
    } catch (err) {
      log.error({ err }, "a change of a pool could not be read");
    }
  });
  const subscribe = async (): Promise<void> => {
    await subscriber.subscribe(poolsChannel);
  };
  // When this fails, the connection has broken again or is about to be closed. The next "ready" subscribes.
  subscriber.on("ready", () => void subscribe().catch(() => undefined));
  if (subscriber.status === "ready") await subscribe();
};
