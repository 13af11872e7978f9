import { killPoints } from "../hook/kill-points.ts";
import type { Fault } from "./fault.ts";

/** The leading operator dies (kill -9) at a point between two writes of its round. */
export const operatorKill: Fault = {
  parts: ["operator"],
  lengthMs: [500, 3000],
  async run({ topology, random, hold, begin }) {
    const leader = await topology.leader();
    const point = random.pick(killPoints);
    begin({ replica: leader.name, point });
    await Promise.race([hold(), leader.dieAt(point)]);
    // A pool at rest may not come to that point; then it dies where it stands.
    await leader.end("SIGKILL");
    await leader.start();
  },
};
