import type { Fault } from "./fault.ts";

/**
 * A master stands still until its replica has its place, and then goes on: with older data, with commands that were sent to it before,
 * and for a moment as a master.
 */
export const redisMasterFreeze: Fault = {
  parts: ["redis-server"],
  redis: ["sentinel", "cluster"],
  lengthMs: [0, 4000],
  async run({ topology, random, hold, begin }) {
    const { set } = topology.redis;
    if (!set) throw new Error("a single server has no replica");
    const victim = random.pick(await set.replaceable());
    begin({ port: victim.port });
    victim.freeze();
    try {
      await set.whenReplaced(victim);
      await hold();
    } finally {
      victim.thaw();
    }
    await set.whenReplica(victim);
  },
};
