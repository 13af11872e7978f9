import { agentTokenSeconds } from "../../../src/core/protocol/agent-token.ts";
import { hasFakeClock } from "../topology/replica.ts";
import type { Fault } from "./fault.ts";
import { giveLead } from "./give-lead.ts";

/** Longest jump, s: tokens for agents that were made before it are over after it. */
const mostSeconds = agentTokenSeconds + 300;

/** The wall clock of an api or of the leading operator jumps forth and back by minutes, under a process that runs. */
export const clockJump: Fault = {
  parts: ["api", "operator"],
  lengthMs: [2000, 6000],
  unavailable: () => (hasFakeClock() ? undefined : "libfaketime is missing"),
  async run({ topology, random, hold, pause, begin }) {
    const replica = random.pick([...topology.apis, ...topology.operators]);
    await replica.end("SIGTERM");
    await replica.start({ underFakeClock: true });
    if (replica.role === "operator") await giveLead(replica, topology);
    const jumps = [random.int(60, mostSeconds), -random.int(60, mostSeconds)];
    begin({ replica: replica.name, jumpsSeconds: jumps });
    const over = hold();
    for (const jump of random.shuffle(jumps)) {
      await replica.setClock(jump);
      await pause(1500);
    }
    await over;
    await replica.end("SIGTERM");
    await replica.start();
  },
};
