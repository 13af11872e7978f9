/** A channel whose listener learns of every gap, on real servers. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectRedis, connectSubscriber, whenReady } from "../../../src/platform/redis/connection.ts";
import { followGaplessly } from "../../../src/platform/redis/follow-gaplessly.ts";
import { startBreakableLink } from "../../support/breakable-link.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger("silent", "test");
const never = new AbortController().signal;

let redisUrl: string;
let redis: Redis;
let channel: string;

beforeAll(async () => {
  ({ redisUrl } = await sharedServers());
  redis = connectRedis(redisUrl, log) as Redis;
  await whenReady(redis, 10_000);
});
afterAll(() => redis?.disconnect());
beforeEach(() => {
  channel = newId();
});

/** What it hears: messages, and `missed`. */
const follow = (subscriber: Redis, probeMs = 60_000) => {
  const heard: string[] = [];
  const following = followGaplessly({
    ...{ subscriber, redis, channel, probeMs },
    onMessage: (text) => heard.push(text),
    onMissed: () => heard.push("missed"),
  });
  onTestFinished(() => following.stop());
  return { heard, following };
};
const say = (text: string) => redis.publish(channel, text);

// EVENT-4
test("a connection that broke is missed once, before the first message after it", async () => {
  const url = new URL(redisUrl);
  const link = await startBreakableLink(Number(url.port));
  onTestFinished(() => link.close());
  url.port = String(link.port);
  const { heard, following } = follow(connectSubscriber(url.href, log) as Redis);
  await following.live(never);
  await say("one");
  await eventually("it hears", () => heard.length === 1);
  link.cut();
  await eventually("it hears again", () => heard.length === 2);
  await say("two");
  await eventually("it hears the rest", () => heard.length === 3);
  expect(heard).toEqual(["one", "missed", "two"]);
});

// EVENT-4
test("a subscription that is over without a word is missed by its probes", async () => {
  const subscriber = connectSubscriber(redisUrl, log) as Redis;
  const { heard, following } = follow(subscriber, 50);
  await following.live(never);
  const other = follow(connectSubscriber(redisUrl, log) as Redis, 50);
  await other.following.live(never);
  await subscriber.unsubscribe(channel);
  await eventually("it has missed something", () => heard.includes("missed"));
  await say("one");
  await eventually("it hears again", () => heard.includes("one"));
  await eventually("the other one hears, too", () => other.heard.includes("one"));
  expect(other.heard).toEqual(["one"]);
});

// EVENT-7
test("while nothing is heard, nobody is told that all is", async () => {
  const url = new URL(redisUrl);
  const link = await startBreakableLink(Number(url.port));
  url.port = String(link.port);
  const subscriber = connectSubscriber(url.href, log) as Redis;
  const { following } = follow(subscriber);
  await following.live(never);
  link.close();
  await eventually("the connection is broken", () => subscriber.status !== "ready");
  await expect(following.live(AbortSignal.timeout(100))).rejects.toThrow("timeout");
});

test("one that was stopped connects no more, and who waits for the first message can give up", async () => {
  const refused = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => 10, enableOfflineQueue: false });
  refused.on("error", () => undefined);
  const { following } = follow(refused);
  const late = new AbortController();
  const live = following.live(late.signal);
  late.abort(new Error("late"));
  await expect(live).rejects.toThrow("late");
  const subscriber = connectSubscriber(redisUrl, log) as Redis;
  const stopped = follow(subscriber);
  await stopped.following.live(never);
  stopped.following.stop();
  await eventually("its connection has ended", () => subscriber.status === "end");
});
