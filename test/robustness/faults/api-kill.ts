import type { Fault } from "./fault.ts";

/** An API replica dies (kill -9) with its waiting callers and its open connections. */
export const apiKill: Fault = {
  parts: ["api"],
  lengthMs: [50, 2000],
  async run({ topology, random, hold, begin }) {
    const api = random.pick(topology.apis);
    begin({ replica: api.name });
    await api.end("SIGKILL");
    await hold();
    await api.start();
  },
};
