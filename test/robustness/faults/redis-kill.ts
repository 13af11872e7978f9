import { type Fault, singleRedis } from "./fault.ts";

/** Redis dies (kill -9) and comes back with what stands in its append-only file, which is all that it had answered. */
export const redisKill: Fault = {
  parts: ["redis-server"],
  redis: ["single"],
  lengthMs: [50, 1500],
  async run({ topology, hold, begin }) {
    const server = singleRedis(topology).current();
    begin();
    await server.kill();
    await hold();
    await server.restart();
  },
};
