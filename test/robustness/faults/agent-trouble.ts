import type { Accident, Switches } from "../../support/simulated-node/switches.ts";
import type { Fault, FaultContext } from "./fault.ts";

/** Some pods of any pools. */
const somePods = ({ random }: FaultContext) => ({ share: random.pick([0.1, 0.3, 0.6]), seed: random.int(1, 2 ** 30) });

/** Something happens to some of the pods, once or twice. */
export const accident = (what: Accident): Fault => ({
  parts: ["agents"],
  lengthMs: [0, 2000],
  async run(context) {
    const { topology, hold, begin } = context;
    const which = somePods(context);
    begin(which);
    await topology.node.happen(which, what);
    await hold();
    if (context.random.chance(0.5)) await topology.node.happen(somePods(context), what);
  },
});

/** Some of the agents misbehave for a while; those of new pods do not. */
export const misbehaviour = (switches: (context: FaultContext) => Switches, lengthMs: Fault["lengthMs"]): Fault => ({
  parts: ["agents"],
  lengthMs,
  async run(context) {
    const { topology, hold, begin } = context;
    const which = somePods(context);
    const set = switches(context);
    begin({ ...which, ...set });
    await topology.node.turn(which, set);
    await hold();
    await topology.node.turn({}, {});
  },
});
