import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** Connections to Redis break and new ones are refused. */
export const redisUnreachable: Fault = {
  parts: ["redis-links"],
  redis: ["single"],
  lengthMs: [100, 4000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    begin({ replicas: namesOf(hit) });
    await Promise.all(hit.map(({ link }) => link.enable(false)));
    await hold();
    await Promise.all(hit.map(({ link }) => link.enable(true)));
  },
};
