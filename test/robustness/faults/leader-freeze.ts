import { freezePoints } from "../hook/kill-points.ts";
import type { Fault } from "./fault.ts";
import { wake } from "./wake.ts";

/** Time to come to the point at which it is to stand still, ms; after it the leader stands still where it is. */
const toPointMs = 800;

/** The leading operator stands still until another one leads, and then goes on in the middle of a round. */
export const leaderFreeze: Fault = {
  parts: ["operator"],
  // Longer than the lead lasts without being renewed (hook/quick-lead.ts).
  lengthMs: [7000, 9000],
  async run({ topology, random, hold, pause, begin }) {
    const leader = await topology.leader();
    const point = random.weighted(freezePoints);
    begin({ replica: leader.name, point });
    leader.hook().freezeAt(point);
    await pause(toPointMs);
    leader.program().freeze();
    await hold();
    await wake(leader);
  },
};
