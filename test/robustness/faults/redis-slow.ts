import { withoutToxiproxy } from "../topology/links.ts";
import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** Answers of Redis come late, beyond the time-out of a command at worst. */
export const redisSlow: Fault = {
  parts: ["redis-links"],
  redis: ["single"],
  unavailable: withoutToxiproxy,
  lengthMs: [500, 4000],
  async run({ topology, random, hold, begin }) {
    const hit = hitReplicas(topology, random);
    const latency = random.pick([20, 150, 600, 1600]);
    begin({ replicas: namesOf(hit), latency });
    const cures = await Promise.all(
      hit.map(({ link }) =>
        link.poison({
          type: "latency",
          stream: "downstream",
          attributes: { latency, jitter: Math.round(latency / 4) },
        }),
      ),
    );
    await hold();
    await Promise.all(cures.map((cure) => cure()));
  },
};
