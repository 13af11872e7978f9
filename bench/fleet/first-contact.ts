import { join } from "node:path";
import { runInOwnProcess } from "../own-process.ts";
import { summarize } from "../statistics.ts";
import type { FirstContactLoad, FirstContactTimes } from "./first-contact-load.ts";
import { row, type Stage } from "./stage.ts";

const loadFile = join(import.meta.dirname, "first-contact-load.ts");
/** Browsers of each pool that are taken. */
const perPool = 4;

/** One caller takes browsers that the api replica has never called, and by turns one of a small pool that it knows. */
export const firstContactStage: Stage = {
  name: "first contact",
  summary: `${perPool} browsers of each pool are taken, by turns with those of a warm pool`,
  async run({ apis, cluster: { apiKey }, pools, warm }, bench) {
    const url = apis[0]?.url ?? "";
    const targetOf = ({ id: poolId, projectId }: (typeof pools)[number]) => ({
      url,
      apiKey,
      poolId,
      ...(projectId !== "" && { projectId }),
    });
    const load = { warm: targetOf(warm), pools: pools.map(targetOf), perPool };
    const times = await runInOwnProcess<FirstContactLoad, FirstContactTimes>(loadFile, load, bench);
    const [first, known] = [summarize(times.first), summarize(times.warm)];
    return {
      rows: [
        row("acquire p50, each a first contact", "ms", first.p50, {
          floor: { what: "warm pool of 10", value: known.p50 },
          target: { of: "ratio", atMost: 1.3 },
        }),
        row("acquire p99, each a first contact", "ms", first.p99, {
          floor: { what: "warm pool of 10", value: known.p99 },
        }),
      ],
      detail: { first, warm: known },
    };
  },
};
