/**
 * How the operator has browsers given their setup by the API, which alone may read what is in it
 * (docs/adr/0029-what-a-browser-needs.md). The operator publishes that a browser waits, again and again until it is
 * told otherwise; a replica of the API claims the work:
 *
 *   (none) ──a replica claims it──► claimed ──► delivered      for longer than a start may take
 *     ▲                                 │
 *     │                                 ├─────► failed: why    for as long as the next try is put off
 *     └──────the key expires────────────┴─────► outdated       the pod is for a configuration that is wanted no more
 *
 * Each state is one key in Redis that expires, so a replica that dies delays a browser by the time of its claim.
 */
import { z } from "zod";
import type { Logger } from "../../platform/base/log.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { followChannel } from "../../platform/redis/follow-channel.ts";
import { setupKey, setupsChannel } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";

/**
 * A browser that waits. `kind`, `name`, `uid`: of the object that has it; `config`: the hash of the configuration that
 * its pod is for.
 */
export const SetupRequest = z.object({
  browser: z.string(),
  pod: z.string(),
  address: z.string(),
  namespace: z.string(),
  kind: z.enum(["BrowserPool", "Browser"]),
  name: z.string(),
  uid: z.string(),
  config: z.string(),
});
export type SetupRequest = z.infer<typeof SetupRequest>;

export type SetupState = { is: "claimed" } | { is: "delivered" } | { is: "outdated" } | { is: "failed"; why: string };

/** Times of the states, ms. A claim is renewed while its work goes on. */
const livesMs = { claimed: 15_000, delivered: 300_000, outdated: 300_000, failed: 2000 };

/** Longest reason that is kept, characters. */
const maxWhy = 300;

export type SetupRequests = {
  /** Tells all replicas of the API that the browser waits. */
  ask(request: SetupRequest): Promise<void>;
  /** How the delivery to a pod stands; undefined when nobody works on it. */
  stateOf(podUid: string): Promise<SetupState | undefined>;
  /** Whether the caller may deliver this pod's setup; it holds the claim for 15 s. */
  claim(podUid: string): Promise<boolean>;
  /** Replaces the caller's claim; with `claimed` it holds on to it. */
  report(podUid: string, state: SetupState): Promise<void>;
};

const text = (state: SetupState): string => (state.is === "failed" ? `failed:${state.why.slice(0, maxWhy)}` : state.is);

const parse = (value: string): SetupState => {
  if (value.startsWith("failed:")) return { is: "failed", why: value.slice("failed:".length) };
  return { is: value === "delivered" || value === "outdated" ? value : "claimed" };
};

/** Requests in this Redis. All throw `unavailable` when it is away. */
export const createSetupRequests = (redis: RedisConnection): SetupRequests => ({
  async ask(request) {
    await orUnavailable(redis.publish(setupsChannel, JSON.stringify(request)));
  },
  async stateOf(podUid) {
    const value = await orUnavailable(redis.get(setupKey(podUid)));
    return value === null ? undefined : parse(value);
  },
  async claim(podUid) {
    return (await orUnavailable(redis.set(setupKey(podUid), "claimed", "PX", livesMs.claimed, "NX"))) === "OK";
  },
  async report(podUid, state) {
    await orUnavailable(redis.set(setupKey(podUid), text(state), "PX", livesMs[state.is]));
  },
});

/** Calls `onRequest` for each browser that waits. What is lost in a reconnect is asked again. */
export const followSetupRequests = (
  subscriber: RedisConnection,
  onRequest: (request: SetupRequest) => void,
  log: Logger,
): Promise<void> =>
  followChannel(subscriber, setupsChannel, (text) => {
    try {
      onRequest(SetupRequest.parse(JSON.parse(text)));
    } catch (err) {
      log.error({ err }, "a request for a browser's setup could not be read");
    }
  });
