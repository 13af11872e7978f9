import type { Fault } from "./fault.ts";
import { hitReplicas, namesOf } from "./hit-replicas.ts";

/** Watches break, again and again. */
export const watchDrop: Fault = {
  parts: ["kube-doors"],
  lengthMs: [500, 4000],
  async run({ topology, random, hold, pause, begin }) {
    const hit = hitReplicas(topology, random);
    let isOver = false;
    begin({ replicas: namesOf(hit) });
    const over = hold().then(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const { kube } of hit) kube.dropWatches();
      await pause(random.int(50, 500));
    }
    await over;
  },
};
