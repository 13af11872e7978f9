import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../base/log.ts";
import { connectRedis } from "./connection.ts";

/** A connection by a Sentinel that nobody answers for. `connect`: the tries to begin anew. */
const bySentinel = () => {
  const redis = connectRedis("redis-sentinel://127.0.0.1:1/0?master=leases", createLogger("silent", "test"));
  const connect = vi.spyOn(redis, "connect").mockResolvedValue(undefined);
  onTestFinished(() => redis.disconnect());
  return { redis, connect };
};

test("a connection by Sentinel that ends by its own break-off begins anew", () => {
  const { redis, connect } = bySentinel();
  redis.disconnect(true);
  redis.emit("end");
  expect(connect).toHaveBeenCalledTimes(1);
});

test("a connection by Sentinel that its owner closes stays closed", () => {
  const { redis, connect } = bySentinel();
  redis.disconnect();
  redis.emit("end");
  redis.disconnect(true);
  redis.emit("end");
  expect(connect).not.toHaveBeenCalled();
});
