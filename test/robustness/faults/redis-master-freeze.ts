import type { RedisServer } from "../topology/redis-server.ts";
import type { Fault } from "./fault.ts";

/** Scripts that a server has run since it started. */
const scriptsOf = async ({ client }: RedisServer): Promise<number> =>
  Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(await client.info("commandstats"))?.[1] ?? 0);

/**
 * A master stands still until its replica has its place, and then goes on: with older data, with commands that were
 * sent to it before, and for a moment as a master.
 */
export const redisMasterFreeze: Fault = {
  parts: ["redis-server"],
  redis: ["sentinel", "cluster"],
  lengthMs: [0, 4000],
  async run({ topology, random, hold, begin, over }) {
    const { set } = topology.redis;
    if (!set) throw new Error("a single server has no replica");
    const victim = random.pick(await set.replaceable());
    begin({ port: victim.port });
    const before = await scriptsOf(victim);
    victim.freeze();
    try {
      await set.whenReplaced(victim);
      await hold();
    } finally {
      victim.thaw();
    }
    // The replaced one may be a master again by now: Sentinels may fail over once more.
    await set.whenWhole();
    // What it took when it no longer should have: the servers' clients have to do without.
    over({ lateScripts: (await scriptsOf(victim)) - before });
  },
};
