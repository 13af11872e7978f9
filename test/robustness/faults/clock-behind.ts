import { agentTokenSeconds } from "../../../src/core/protocol/agent-token.ts";
import { hasFakeClock } from "../topology/replica.ts";
import type { Fault } from "./fault.ts";
import { giveLead } from "./give-lead.ts";

/** Longer than the life of an agent's token with the difference of clocks that an agent tolerates, s. */
const wrongBySeconds = agentTokenSeconds + 100;

/**
 * The wall clock of an api or of the leading operator is wrong from its start on: behind all others, or before them.
 */
export const clockBehind: Fault = {
  parts: ["api", "operator"],
  lengthMs: [6000, 10_000],
  unavailable: () => (hasFakeClock() ? undefined : "libfaketime is missing"),
  async run({ topology, random, hold, begin, over }) {
    const replica = random.pick([...topology.apis, ...topology.apis, ...topology.operators]);
    // By a clock that is before the others tokens are good for longer; by one that is behind they are good for nobody.
    const offsetSeconds = random.pick([-wrongBySeconds, -wrongBySeconds, wrongBySeconds]);
    begin({ replica: replica.name, offsetSeconds });
    await replica.end("SIGTERM");
    await replica.setClock(offsetSeconds);
    await replica.start({ underFakeClock: true });
    if (replica.role === "operator") await giveLead(replica, topology);
    await hold();
    over();
    await replica.end("SIGTERM");
    await replica.setClock(0);
    await replica.start();
  },
};
