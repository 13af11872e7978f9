import { withoutToxiproxy } from "../topology/links.ts";
import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** Redis carries commands out, and the connection breaks before or in the middle of an answer, again and again. */
export const redisCutReply: Fault = {
  parts: ["redis-links"],
  redis: ["single"],
  unavailable: withoutToxiproxy,
  lengthMs: [500, 4000],
  async run({ topology, random, hold, pause, begin }) {
    const hit = hitReplicas(topology, random);
    let isOver = false;
    begin({ replicas: namesOf(hit) });
    const over = hold().then(() => {
      isOver = true;
    });
    while (!isOver) {
      const bytes = random.pick([1, 40, 300, 2000]);
      const cures = await Promise.all(
        hit.map(({ link }) => link.poison({ type: "limit_data", stream: "downstream", attributes: { bytes } })),
      );
      await pause(random.int(10, 60));
      await Promise.all(cures.map((cure) => cure()));
      await pause(random.int(100, 700));
    }
    await over;
  },
};
