import type { Fault } from "./fault.ts";

/** The leading operator is told to stop and hands the lead over. */
export const operatorTerm: Fault = {
  parts: ["operator"],
  lengthMs: [0, 1000],
  async run({ topology, hold, begin }) {
    const leader = await topology.leader();
    begin({ replica: leader.name });
    await leader.end("SIGTERM");
    await hold();
    await leader.start();
  },
};
