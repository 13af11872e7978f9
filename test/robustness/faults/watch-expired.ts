import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/**
 * Watches are away for so long that the server has forgotten what they missed: 410 Expired, so only a new list helps.
 */
export const watchExpired: Fault = {
  parts: ["kube-doors"],
  lengthMs: [300, 3000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    begin({ replicas: namesOf(hit) });
    for (const { kube } of hit) kube.shutWatches(true);
    await hold();
    for (const { kube } of hit) kube.shutWatches(false);
  },
};
