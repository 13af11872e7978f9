/** Independent callers, at a rate that the service must bear: what each of them waits. */
import { sendCrowd } from "../leases/crowd.ts";
import { startService } from "../leases/service.ts";
import { poissonArrivals } from "../open-loop.ts";
import type { Bench, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const size = 300;
const perSecond = 300;
const holdMs = 20;
/** Exceeds the number of concurrent callers, unless the service stalls. */
const connections = 256;
const warmUpSeconds = 5;

const measure = async (bench: Bench) => {
  await using service = await startService({ size }, bench);
  const seconds = bench.seconds(60);
  const send = (forSeconds: number) =>
    sendCrowd(
      service,
      { arrivals: poissonArrivals({ perSecond, seconds: forSeconds }, bench.random()), holdMs, connections },
      bench.signal,
    );
  await send(warmUpSeconds);
  bench.say(`${perSecond} callers a second for ${seconds} s`);
  const { acquires, releases, lateness, errors, doubles } = await send(seconds);
  const acquire = summarize(acquires);
  const release = summarize(releases);
  const late = summarize(lateness);
  return {
    rows: [
      { what: "acquire p50", unit: "ms" as const, measured: acquire.p50 },
      {
        what: "acquire p99",
        unit: "ms" as const,
        measured: acquire.p99,
        target: { of: "measured" as const, atMost: 25 },
      },
      { what: "release p99", unit: "ms" as const, measured: release.p99 },
      { what: "the generator's own delay p99", unit: "ms" as const, measured: late.p99 },
      {
        what: "errors",
        unit: "count" as const,
        measured: errors.length,
        target: { of: "measured" as const, atMost: 0 },
      },
      {
        what: "browsers held twice",
        unit: "count" as const,
        measured: doubles,
        target: { of: "measured" as const, atMost: 0 },
      },
    ],
    detail: { acquire, release, late, errors: errors.slice(0, 10) },
  };
};

export const section: Section = {
  name: "open-loop",
  summary: `${perSecond} acquires a second, each held for ${holdMs} ms, from a pool of ${size}`,
  run: measure,
};
