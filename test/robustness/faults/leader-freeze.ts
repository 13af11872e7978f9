import type { Fault } from "./fault.ts";

/** The leading operator stands still until another one leads, and then goes on in the middle of what it was doing. */
export const leaderFreeze: Fault = {
  parts: ["operator"],
  // Longer than the lead lasts without being renewed (hook/quick-lead.ts).
  lengthMs: [6000, 8000],
  async run({ topology, hold, begin }) {
    const leader = await topology.leader();
    begin({ replica: leader.name });
    const program = leader.program();
    program.freeze();
    await hold();
    program.thaw();
  },
};
