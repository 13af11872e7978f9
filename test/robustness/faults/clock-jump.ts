import { eventually } from "../../support/eventually.ts";
import { hasFakeClock, type Replica } from "../topology/replica.ts";
import type { Topology } from "../topology.ts";
import type { Fault } from "./fault.ts";

/** An operator that has a fake clock leads: all others give up the lead to it. */
const giveLead = async (replica: Replica, { operators, leader }: Topology): Promise<void> => {
  const others = operators.filter((other) => other !== replica);
  await Promise.all(others.map((other) => other.end("SIGTERM")));
  await eventually(`${replica.name} leads`, async () => (await leader()) === replica);
  await Promise.all(others.map((other) => other.start()));
};

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
    const jumps = [random.int(60, 900), -random.int(60, 900)];
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
