/**
 * Tells waiting callers of this API replica of their grants, by one subscription for all of them.
 *
 *   wait(session) ──► message on the channel ──► resolved with `granted` or `draining`
 *                 └─► subscription came back ──► resolved with `recheck`: a message may have been lost, ask the script again
 */
import type { Redis } from "ioredis";
import type { Logger } from "../log.ts";
import { parseLease } from "./lease-store.ts";
import { grantsChannel } from "./pool-keys.ts";
import type { LeaseRecord } from "./records.ts";

export type Wake = { kind: "granted"; lease: LeaseRecord } | { kind: "draining" } | { kind: "recheck" };

export type Grants = {
  /** The channel that this replica's callers give to the take script. */
  channel: string;
  /** Begins to listen for a session; call it before the script that may grant. */
  listen(session: string): { next(signal: AbortSignal): Promise<Wake>; stop(): void };
  /** Callers that wait here. */
  size(): number;
  close(): Promise<void>;
};

type Listener = (wake: Wake) => void;
type Message = { session: string; wake: "granted" | "draining"; lease?: string };

/** `subscriber`: a connection of its own. Resolves when the subscription stands. */
export const startGrants = async (subscriber: Redis, replicaId: string, log: Logger): Promise<Grants> => {
  const channel = grantsChannel(replicaId);
  const listeners = new Map<string, Listener>();

  subscriber.on("message", (_channel: string, text: string) => {
    try {
      const message = JSON.parse(text) as Message;
      const listener = listeners.get(message.session);
      if (message.wake === "draining") listener?.({ kind: "draining" });
      else if (message.lease) listener?.({ kind: "granted", lease: parseLease(message.lease) });
    } catch (err) {
      log.error({ err }, "a grant could not be read");
    }
  });
  await subscriber.subscribe(channel);
  // After a reconnect the client subscribes again by itself, after "ready"; a message sent in between is lost.
  subscriber.on("ready", () => {
    void subscriber
      .ping()
      .then(() => {
        for (const listener of listeners.values()) listener({ kind: "recheck" });
      })
      .catch(() => undefined);
  });

  return {
    channel,
    listen(session) {
      const wakes: Wake[] = [];
      let wakeUp: (() => void) | undefined;
      listeners.set(session, (wake) => {
        wakes.push(wake);
        wakeUp?.();
      });
      return {
        async next(signal) {
          while (wakes.length === 0) {
            signal.throwIfAborted();
            const woken = Promise.withResolvers<void>();
            wakeUp = woken.resolve;
            signal.addEventListener("abort", wakeUp, { once: true });
            await woken.promise;
            signal.removeEventListener("abort", wakeUp);
          }
          return wakes.shift() as Wake;
        },
        stop: () => void listeners.delete(session),
      };
    },
    size: () => listeners.size,
    async close() {
      subscriber.disconnect();
    },
  };
};
