import type { Fault } from "./fault.ts";

/** The Kubernetes API server dies (kill -9) and comes back: all watches break, and their versions are too old then. */
export const apiserverRestart: Fault = {
  parts: ["kube-server"],
  lengthMs: [0, 0],
  async run({ topology, begin }) {
    begin();
    await topology.restartApiServer();
  },
};
