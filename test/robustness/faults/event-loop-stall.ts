import type { Fault } from "./fault.ts";

/** A replica's event loop stands still: its timers are late and its peers get no answer. */
export const eventLoopStall: Fault = {
  parts: ["api", "operator"],
  lengthMs: [1000, 5000],
  async run({ topology, random, hold, begin }) {
    const replica = random.pick([...topology.apis, ...topology.apis, ...topology.operators]);
    begin({ replica: replica.name });
    const program = replica.program();
    program.freeze();
    await hold();
    program.thaw();
  },
};
