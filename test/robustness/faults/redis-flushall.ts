import type { Fault } from "./fault.ts";

/** Redis forgets everything in one instant, and no connection breaks. */
export const redisFlushall: Fault = {
  parts: ["redis-server"],
  lengthMs: [0, 0],
  async run({ topology, begin }) {
    begin();
    await topology.redis.current().client.flushall();
  },
};
