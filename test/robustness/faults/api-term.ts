import type { Fault } from "./fault.ts";

/** An API replica is told to stop while callers wait at it and connections go through it. */
export const apiTerm: Fault = {
  parts: ["api"],
  lengthMs: [0, 500],
  async run({ topology, random, hold, begin }) {
    const api = random.pick(topology.apis);
    begin({ replica: api.name });
    await api.end("SIGTERM");
    await hold();
    await api.start();
  },
};
