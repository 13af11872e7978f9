import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** What watches bring is seconds old. */
export const watchLate: Fault = {
  parts: ["kube-doors"],
  lengthMs: [2000, 6000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    const lateMs = random.int(200, 5000);
    begin({ replicas: namesOf(hit), lateMs });
    for (const { kube } of hit) kube.delayWatches(lateMs);
    await hold();
    for (const { kube } of hit) kube.delayWatches(0);
  },
};
