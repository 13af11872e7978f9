import type { Fault } from "./fault.ts";

/** A master dies (kill -9), and its replica takes over by itself. The dead one comes back as its replica. */
export const redisMasterKill: Fault = {
  parts: ["redis-server"],
  redis: ["sentinel", "cluster"],
  lengthMs: [0, 2000],
  async run({ topology, random, hold, begin }) {
    const { set } = topology.redis;
    if (!set) throw new Error("a single server has no replica");
    const victim = random.pick(await set.replaceable());
    begin({ port: victim.port });
    await victim.kill();
    await set.whenReplaced(victim);
    await hold();
    await victim.restart();
    await set.whenWhole();
  },
};
