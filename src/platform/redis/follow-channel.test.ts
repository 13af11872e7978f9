import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import type { RedisConnection } from "./connection.ts";
import { followChannel } from "./follow-channel.ts";

/** A connection that this test plays, and what its follower hears. */
const follow = async (status: string) => {
  const subscribe = vi.fn(async (_channel: string) => 1);
  const subscriber = Object.assign(new EventEmitter(), { status, subscribe });
  const heard: string[] = [];
  await followChannel(subscriber as unknown as RedisConnection, "changes", (text) => heard.push(text));
  return { subscriber, subscribe, heard };
};

test("a channel is followed again after every reconnect, also when one of the subscriptions fails", async () => {
  const { subscriber, subscribe, heard } = await follow("ready");
  expect(subscribe).toHaveBeenCalledTimes(1);
  subscribe.mockRejectedValueOnce(new Error("Connection is closed."));
  for (let n = 0; n < 3; n++) subscriber.emit("ready");
  expect(subscribe).toHaveBeenCalledTimes(4);
  subscriber.emit("message", "changes", "one");
  subscriber.emit("message", "others", "two");
  expect(heard).toEqual(["one"]);
});

test("a connection that is not ready yet is asked once it is", async () => {
  const { subscriber, subscribe } = await follow("connecting");
  expect(subscribe).not.toHaveBeenCalled();
  subscriber.emit("ready");
  expect(subscribe).toHaveBeenCalledTimes(1);
});
