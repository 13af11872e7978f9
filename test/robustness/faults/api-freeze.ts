import type { Fault } from "./fault.ts";
import { standStill } from "./stand-still.ts";

/**
 * An api stands still for so long that it counts as silent, as on a machine that lost its power: Redis has it as
 * subscribed all the while, with the callers that wait at it. Some do so between a grant and its bind.
 */
export const apiFreeze: Fault = {
  parts: ["api"],
  lengthMs: [4000, 9000],
  async run(context) {
    const { topology, random } = context;
    const replica = random.pick(topology.apis);
    await standStill(replica, { atBind: random.chance(0.5) }, context);
  },
};
