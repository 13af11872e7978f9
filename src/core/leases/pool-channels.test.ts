import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { openPoolChannels } from "./pool-channels.ts";
import { grantsChannel, recheckChannel } from "./pool-keys.ts";

/** Channels over a connection that this test plays. */
const playing = () => {
  const ssubscribe = vi.fn(async (..._channels: string[]) => 2);
  const sunsubscribe = vi.fn(async (..._channels: string[]) => 2);
  const subscriber = Object.assign(new EventEmitter(), { ssubscribe, sunsubscribe });
  const heard: string[] = [];
  const channels = openPoolChannels(subscriber as unknown as RedisConnection, "replica", {
    onMessage: (poolUid, text) => heard.push(`${poolUid}: ${text}`),
    onMissed: (poolUid) => heard.push(`${poolUid} missed`),
  });
  return { channels, heard, ssubscribe, sunsubscribe, subscriber };
};

test("after a subscription that failed the next caller subscribes again; then one stands for all callers", async () => {
  const { channels, ssubscribe } = playing();
  ssubscribe.mockRejectedValueOnce(new Error("Connection is closed."));
  await expect(channels.follow("pool")).rejects.toMatchObject({ code: "unavailable" });
  await channels.follow("pool");
  await channels.follow("pool");
  expect(ssubscribe).toHaveBeenCalledTimes(2);
});

test("callers are told of messages for them, and of what they may have missed", async () => {
  const { channels, heard, ssubscribe, subscriber } = playing();
  await channels.follow("pool");
  subscriber.emit("smessage", grantsChannel("pool", "replica"), "granted");
  subscriber.emit("smessage", recheckChannel("pool"), "");
  subscriber.emit("ready");
  await expect.poll(() => heard).toEqual(["pool: granted", "pool missed", "pool missed"]);
  expect(ssubscribe).toHaveBeenCalledTimes(2);
  await channels.renew("another");
  expect(ssubscribe).toHaveBeenCalledTimes(2);
});

test("a pool that nobody uses for long is followed no more, and one with callers is", async () => {
  const { channels, sunsubscribe } = playing();
  await channels.follow("used");
  await channels.follow("unused");
  channels.forgetUnused(0, (poolUid) => poolUid === "used");
  expect(sunsubscribe.mock.calls).toEqual([[grantsChannel("unused", "replica"), recheckChannel("unused")]]);
});
