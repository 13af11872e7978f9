import type { Fault } from "./fault.ts";

/** Redis, all servers of it, forgets everything in one instant, and no connection breaks. */
export const redisFlushall: Fault = {
  parts: ["redis-server"],
  lengthMs: [0, 0],
  async run({ topology, begin }) {
    begin();
    await Promise.all(topology.redis.masters().map((server) => server.flushall()));
  },
};
