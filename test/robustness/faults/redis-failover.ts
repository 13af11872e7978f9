import { eventually } from "../../support/eventually.ts";
import { type Fault, singleRedis } from "./fault.ts";

/**
 * Redis dies and a replica that lagged behind takes over. The replica is promoted in the moment when its link is cut,
 * as long before the death as it lags: nobody can tell this from a later promotion.
 */
export const redisFailover: Fault = {
  parts: ["redis-server"],
  redis: ["single"],
  lengthMs: [50, 1500],
  async run({ topology, random, hold, pause, begin }) {
    const redis = singleRedis(topology);
    const old = redis.current();
    const copy = await redis.startCopy();
    await eventually("the replica has copied everything", async () =>
      (await copy.client.info("replication")).includes("master_link_status:up"),
    );
    const lagMs = random.int(50, 800);
    await copy.promote();
    await pause(lagMs);
    begin({ lagMs });
    await old.kill();
    await hold();
    await redis.replaceBy(copy);
    await topology.aimLinks(copy.port);
  },
};
