import { bindPoint } from "../hook/kill-points.ts";
import type { Fault } from "./fault.ts";
import { wake } from "./wake.ts";

/** Time for an api to come to the moment in which it is to stand still, ms; after it it stands still where it is. */
const toPointMs = 100;

/**
 * A replica's event loop stands still: its timers are late and its peers get no answer. An api does so between a grant and its
 * bind, which then comes seconds late.
 */
export const eventLoopStall: Fault = {
  parts: ["api", "operator"],
  lengthMs: [1000, 5000],
  async run({ topology, random, hold, pause, begin }) {
    const replica = random.pick([...topology.apis, ...topology.apis, ...topology.operators]);
    begin({ replica: replica.name });
    if (replica.role === "api") {
      replica.hook().freezeAt(bindPoint);
      await pause(toPointMs);
    }
    replica.program().freeze();
    await hold();
    await wake(replica);
  },
};
