import type { Fault } from "./fault.ts";

/** Redis forgets the texts of the scripts, again and again. */
export const redisScriptFlush: Fault = {
  parts: ["redis-server"],
  lengthMs: [500, 3000],
  async run({ topology, random, hold, pause, begin }) {
    let isOver = false;
    begin();
    const over = hold().then(() => {
      isOver = true;
    });
    while (!isOver) {
      await Promise.all(topology.redis.masters().map((server) => server.script("FLUSH")));
      await pause(random.int(20, 200));
    }
    await over;
  },
};
