import type { RedisConnection } from "./connection.ts";

/**
 * Calls `onMessage` for every message of a channel, again after each reconnect; what is sent while the connection is
 * down is lost. `subscriber`: a connection for subscriptions.
 */
export const followChannel = async (
  subscriber: RedisConnection,
  channel: string,
  onMessage: (text: string) => void,
): Promise<void> => {
  subscriber.on("message", (from: string, text: string) => {
    if (from === channel) onMessage(text);
  });
  const subscribe = async (): Promise<void> => {
    await subscriber.subscribe(channel);
  };
  // When this fails, the connection has broken again or is about to be closed. The next "ready" subscribes.
  subscriber.on("ready", () => void subscribe().catch(() => undefined));
  if (subscriber.status === "ready") await subscribe();
};
