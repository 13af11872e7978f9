import { normalStarts } from "../topology/normal-starts.ts";
import type { Fault } from "./fault.ts";

/** Browsers fail to start, or take long for it. */
export const startsFailing: Fault = {
  parts: ["agents"],
  lengthMs: [1000, 5000],
  async run({ topology, random, hold, begin }) {
    const how = { failingShare: random.pick([0, 0.3, 0.8]), delayMs: random.pick([100, 1500]), jitterMs: 500 };
    begin(how);
    await topology.node.starts(how);
    await hold();
    await topology.node.starts(normalStarts);
  },
};
