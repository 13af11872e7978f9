import { withoutToxiproxy } from "../topology/links.ts";
import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** No byte gets to Redis, or none comes back, and nobody is told; in the end the connections break. */
export const redisBlackhole: Fault = {
  parts: ["redis-links"],
  redis: ["single"],
  unavailable: withoutToxiproxy,
  lengthMs: [300, 5000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    const stream = random.pick(["downstream", "upstream"] as const);
    begin({ replicas: namesOf(hit), stream });
    const cures = await Promise.all(
      hit.map(({ link }) => link.poison({ type: "timeout", stream, attributes: { timeout: 0 } })),
    );
    await hold();
    await Promise.all(cures.map((cure) => cure()));
  },
};
