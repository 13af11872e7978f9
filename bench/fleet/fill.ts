import { setTimeout as sleep } from "node:timers/promises";
import { residentBytesOf } from "../process-time.ts";
import { usageOf } from "../scale/operator-usage.ts";
import { type Fleet, whenCounts } from "./fleet.ts";
import { row, type Stage } from "./stage.ts";

const operatorUsage = ({ operator }: Fleet) => usageOf(operator().replica.process.pid ?? 0, operator().opsUrl);

/** All pools are made at once; their fill rate would let them be full after a minute. */
export const fillStage = (pools: number, size: number): Stage => ({
  name: "fill",
  summary: `${pools} pools of ${size} are made and fill`,
  async run(fleet, bench) {
    const before = await operatorUsage(fleet);
    const beganMs = performance.now();
    await fleet.createPools(pools, size);
    const madeMs = performance.now() - beganMs;
    await whenCounts(fleet, bench, ({ available }) => available === size);
    const filledMs = performance.now() - beganMs;
    const after = await operatorUsage(fleet);
    const browsers = pools * size;
    return {
      rows: [
        row(`${pools} pools are made`, "ms", madeMs),
        row(`${browsers} browsers are idle`, "ms", filledMs),
        row("operator's CPU per browser started", "ms", ((after.cpuSeconds - before.cpuSeconds) * 1000) / browsers),
        row(
          "requests to the API server per browser started",
          "count",
          (after.kubeRequests - before.kubeRequests) / browsers,
        ),
        row("operator's memory, full", "bytes", after.residentBytes),
      ],
    };
  },
});

/** Nobody uses the fleet. */
export const restStage: Stage = {
  name: "rest",
  summary: "nobody uses it",
  async run(fleet, bench) {
    const seconds = bench.seconds(60);
    const before = await operatorUsage(fleet);
    await sleep(seconds * 1000, undefined, { signal: bench.signal });
    const after = await operatorUsage(fleet);
    const memory = await Promise.all(fleet.apis.map(({ process }) => residentBytesOf(process.pid ?? 0)));
    return {
      rows: [
        row("operator's CPU at rest, per second", "ms", ((after.cpuSeconds - before.cpuSeconds) * 1000) / seconds, {
          target: { of: "measured", atMost: 500 },
        }),
        row("operator's memory at rest", "bytes", after.residentBytes, {
          target: { of: "measured", atMost: 700 * 1024 * 1024 },
        }),
        row("requests to the API server at rest", "1/s", (after.kubeRequests - before.kubeRequests) / seconds),
        row("largest api replica's memory at rest", "bytes", Math.max(...memory)),
      ],
    };
  },
};
