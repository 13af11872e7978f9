import type { Fault } from "./fault.ts";

/** Redis dies (kill -9) and comes back with what stands in its append-only file, which is all that it had answered. */
export const redisKill: Fault = {
  parts: ["redis-server"],
  lengthMs: [50, 1500],
  async run({ topology, hold, begin }) {
    const server = topology.redis.current();
    begin();
    await server.kill();
    await hold();
    await server.restart();
  },
};
