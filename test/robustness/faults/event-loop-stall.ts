import type { Fault } from "./fault.ts";
import { standStill } from "./stand-still.ts";

/**
 * A replica's event loop stands still: its timers are late and its peers get no answer. An api does so between a grant
 * and its bind, which then comes seconds late.
 */
export const eventLoopStall: Fault = {
  parts: ["api", "operator"],
  lengthMs: [1000, 5000],
  async run(context) {
    const { topology, random } = context;
    const replica = random.pick([...topology.apis, ...topology.apis, ...topology.operators]);
    await standStill(replica, { atBind: replica.role === "api" }, context);
  },
};
