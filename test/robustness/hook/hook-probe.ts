/**
 * A process of the product in small, for the hook's own tests: carries out the calls of the lease stores that it is
 * sent.
 */
import { createLeaseStore } from "../../../src/core/leases/lease-store.ts";
import { createRepairStore } from "../../../src/core/leases/repair-store.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectRedis, whenReady } from "../../../src/platform/redis/connection.ts";

const redis = connectRedis(process.env.REDIS_URL ?? "", createLogger("silent", "probe"));
await whenReady(redis, 10_000);
const store = { ...createLeaseStore(redis), ...createRepairStore(redis) } as Record<
  string,
  (...args: never[]) => Promise<unknown>
>;

type Hooked = { browserpoolTestHook: { point(name: string): void } };
type Request = { call: string; args: never[] } | { reject: true } | { pass: string } | { do: string };

process.on("message", (message: Request) => {
  if ("reject" in message) void Promise.reject(new Error("nobody handles this"));
  // As the patched source of the operator does.
  else if ("pass" in message) (globalThis as never as Hooked).browserpoolTestHook.point(message.pass);
  else if ("call" in message)
    store[message.call]?.(...message.args).then((answer) => process.send?.({ answer: answer ?? null }));
});
// As src/main.ts does.
process.on("unhandledRejection", () => process.exit(1));
process.send?.({ ready: true });
