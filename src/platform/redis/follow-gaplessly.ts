/**
 * Follows a channel so that its listener learns of every time in which messages may be lost:
 *
 *   (deaf) ──SUBSCRIBE is answered──► hears ──the connection breaks, or a probe does not come back──► (deaf)
 *
 * Probes are messages of its own on the channel. They show that a server of a cluster which is cut off from the others,
 * or a subscription that has ended without a word, hears nothing any more.
 */
import { randomUUID } from "node:crypto";
import { awaitWith } from "../base/retry.ts";
import type { RedisConnection } from "./connection.ts";

/** Messages of the channel that begin so are probes. */
const probeMark = "probe ";

/** When a subscription is tried again that was refused, ms. */
const refusedMs = 1000;

type Following = {
  /** For subscriptions, and nothing else; `stop` closes it. */
  subscriber: RedisConnection;
  /** For commands. */
  redis: RedisConnection;
  channel: string;
  onMessage(text: string): void;
  /** It hears again, and what was sent meanwhile is lost. */
  onMissed(): void;
  probeMs?: number;
};

export type GaplessChannel = {
  /** Resolves while it hears. Rejects with the reason of `signal`. */
  live(signal: AbortSignal): Promise<void>;
  stop(): void;
};

/** Starts to follow; tries for ever until `stop`. */
export const followGaplessly = (following: Following): GaplessChannel => {
  const { subscriber, redis, channel, onMessage, onMissed, probeMs = 5000 } = following;
  let live = Promise.withResolvers<void>();
  const own = `${probeMark}${randomUUID()}`;
  let hasHeard = false;
  let isHearing = false;
  let isAwaited = false;
  let refused: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    isHearing = true;
    isAwaited = false;
    if (hasHeard) onMissed();
    hasHeard = true;
    live.resolve();
  };
  const becomeDeaf = (): void => {
    if (isHearing) live = Promise.withResolvers();
    isHearing = false;
    isAwaited = false;
  };
  /** Whatever the cause is, a new connection is a cure. */
  const renew = (): void => {
    becomeDeaf();
    if (subscriber.status === "ready") subscriber.disconnect(true);
  };
  const subscribe = (): void => {
    void subscriber.subscribe(channel).then(heard, () => {
      refused = setTimeout(renew, refusedMs);
    });
  };
  const probe = (): void => {
    if (isAwaited) renew();
    if (!isHearing) return;
    isAwaited = true;
    // A Redis that does not take it breaks the subscription too, if it is the server that is away.
    redis.publish(channel, own).catch(() => {
      isAwaited = false;
    });
  };
  const timer = setInterval(probe, probeMs);
  subscriber.on("message", (from: string, text: string) => {
    if (from !== channel) return;
    if (text === own) isAwaited = false;
    else if (!text.startsWith(probeMark)) onMessage(text);
  });
  subscriber.on("ready", subscribe);
  subscriber.on("close", () => {
    clearTimeout(refused);
    becomeDeaf();
  });
  if (subscriber.status === "ready") subscribe();
  return {
    live: (signal) => awaitWith(live.promise, signal),
    stop() {
      clearInterval(timer);
      clearTimeout(refused);
      subscriber.disconnect();
    },
  };
};
