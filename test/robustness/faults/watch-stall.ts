import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** Watches go silent and later bring all at once what they had held back. */
export const watchStall: Fault = {
  parts: ["kube-doors"],
  lengthMs: [500, 5000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    begin({ replicas: namesOf(hit) });
    for (const { kube } of hit) kube.holdWatches(true);
    await hold();
    for (const { kube } of hit) kube.holdWatches(false);
  },
};
