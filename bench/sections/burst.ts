/** As many simultaneous callers as there are browsers. */
import { setTimeout as sleep } from "node:timers/promises";
import { sendCrowd } from "../leases/crowd.ts";
import { startService } from "../leases/service.ts";
import type { Bench, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const size = 300;
const rounds = 5;
/** Longer than a burst takes, so that no caller gets a browser that another has released. */
const holdMs = 2000;

const measure = async (bench: Bench) => {
  await using service = await startService({ size }, bench);
  const arrivals = Array.from({ length: size }, () => 0);
  const bursts: number[][] = [];
  let errors = 0;
  let doubles = 0;
  // The first burst meets an api that has compiled nothing and has connected to no agent.
  for (let round = 0; round <= rounds; round++) {
    bench.say(`burst ${round}`);
    const burst = await sendCrowd(service, { arrivals, holdMs, connections: size }, bench.signal);
    if (round > 0) bursts.push(burst.acquires);
    errors += burst.errors.length;
    doubles += burst.doubles;
    await service.pool.whenCounts({ acquired: 0, available: size });
    await sleep(500, undefined, { signal: bench.signal });
  }
  const summaries = bursts.map(summarize);
  const median = (of: (summary: (typeof summaries)[number]) => number): number => summarize(summaries.map(of)).p50;
  return {
    rows: [
      {
        what: "p90 of the callers",
        unit: "ms" as const,
        measured: median(({ p90 }) => p90),
        target: { of: "measured" as const, atMost: 700 },
      },
      {
        what: "the last caller",
        unit: "ms" as const,
        measured: median(({ max }) => max),
        target: { of: "measured" as const, atMost: 1000 },
      },
      { what: "errors", unit: "count" as const, measured: errors, target: { of: "measured" as const, atMost: 0 } },
      {
        what: "browsers held twice",
        unit: "count" as const,
        measured: doubles,
        target: { of: "measured" as const, atMost: 0 },
      },
    ],
    detail: { bursts: summaries },
  };
};

export const section: Section = {
  name: "burst",
  summary: `${size} acquires at once on an idle pool of ${size}; median of ${rounds} bursts`,
  run: measure,
};
