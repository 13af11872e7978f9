import type { Fault } from "./fault.ts";

/** Redis closes the connections of all replicas, those of their subscriptions too, again and again. */
export const redisClientKill: Fault = {
  parts: ["redis-server"],
  lengthMs: [0, 2000],
  async run({ topology, random, hold, pause, begin }) {
    let isOver = false;
    begin();
    const over = hold().then(() => {
      isOver = true;
    });
    do {
      const type = random.pick(["normal", "pubsub"] as const);
      const kill = ["KILL", "TYPE", type, "SKIPME", "yes"];
      await Promise.all(topology.redis.masters().map((server) => server.call("CLIENT", kill)));
      await pause(random.int(50, 600));
    } while (!isOver);
    await over;
  },
};
