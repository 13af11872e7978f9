import type { Fault } from "./fault.ts";

/** Redis is out of memory: it reads and refuses every write. */
export const redisOom: Fault = {
  parts: ["redis-server"],
  lengthMs: [500, 3000],
  async run({ topology, hold, begin }) {
    const limit = (bytes: string) => topology.redis.current().client.config("SET", "maxmemory", bytes);
    begin();
    await limit("1mb");
    await hold();
    await limit("0");
  },
};
