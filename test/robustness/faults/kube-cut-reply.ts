import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** The API server carries requests out, and the answers are lost: a creation that is repeated may happen twice. */
export const kubeCutReply: Fault = {
  parts: ["kube-doors"],
  lengthMs: [200, 3000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    begin({ replicas: namesOf(hit) });
    for (const { kube } of hit) kube.muteRequests(true);
    await hold();
    for (const { kube } of hit) kube.muteRequests(false);
  },
};
