import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forAll } from "../../test/support/for-all.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";
import { type Fleet, giveUpMs } from "./fleet.ts";
import { row, type Stage } from "./stage.ts";
import type { SteadyLoad } from "./steady-load.ts";

const loadFile = join(import.meta.dirname, "steady-load.ts");
const lostShare = 0.05;

const acquires = async (
  { apis, cluster: { apiKey }, warm }: Fleet,
  seconds: number,
  bench: Bench,
): Promise<Summary> => {
  const target = { url: apis[1]?.url ?? "", apiKey, poolId: warm.id };
  return summarize(await runInOwnProcess<SteadyLoad, number[]>(loadFile, { target, callers: 2, seconds }, bench));
};

/** Resolves with the times until no pool has one of these browsers, and until every pool is full without them, ms. */
const whenReplaced = async (lost: ReadonlySet<string>, { pools, store, poolSize }: Fleet, bench: Bench) => {
  const beganMs = performance.now();
  const until = AbortSignal.any([bench.signal, AbortSignal.timeout(giveUpMs)]);
  let noticedMs: number | undefined;
  let missing = [...pools];
  for (;;) {
    const seen = await forAll(missing, 8, async (pool) => ({
      pool,
      browsers: (await store.snapshot(pool.uid)).browsers,
    }));
    const usable = seen.map(({ pool, browsers }) => ({ pool, idle: browsers.filter(({ state }) => state === "idle") }));
    const hasLost = usable.some(({ idle }) => idle.some(({ id }) => lost.has(id)));
    if (!hasLost) noticedMs ??= performance.now() - beganMs;
    missing = usable
      .filter(({ idle }) => idle.length !== poolSize || idle.some(({ id }) => lost.has(id)))
      .map(({ pool }) => pool);
    if (missing.length === 0 && noticedMs !== undefined) return { noticedMs, replacedMs: performance.now() - beganMs };
    await sleep(250, undefined, { signal: until });
  }
};

/** One browser of twenty crashes at once, while callers use another pool. */
export const lostStage: Stage = {
  name: "lost",
  summary: "one browser of twenty crashes, while others acquire",
  async run(fleet, bench) {
    const seconds = bench.seconds(20);
    const before = await acquires(fleet, seconds, bench);
    const during = acquires(fleet, seconds, bench);
    await sleep(3000, undefined, { signal: bench.signal });
    // The first node has the pool of those who acquire.
    const lost = (
      await Promise.all(fleet.nodes.slice(1).map((node) => node.happen({ share: lostShare, seed: 1 }, "crash")))
    ).flat();
    const { noticedMs, replacedMs } = await whenReplaced(new Set(lost), fleet, bench);
    const then = await during;
    return {
      rows: [
        row(`${lost.length} lost browsers are noticed`, "ms", noticedMs),
        row("all of them are replaced", "ms", replacedMs),
        row("acquire p50 of others meanwhile", "ms", then.p50, { floor: { what: "before", value: before.p50 } }),
        row("acquire p99 of others meanwhile", "ms", then.p99, {
          floor: { what: "before", value: before.p99 },
          target: { of: "ratio", atMost: 1.5 },
        }),
      ],
      detail: { before, then },
    };
  },
};

/** The operator is killed, one browser of twenty crashes while none runs, and another operator starts. */
export const leaderStage: Stage = {
  name: "leader",
  summary: "the operator is killed, browsers crash, another one starts",
  async run(fleet, bench) {
    const { replica } = fleet.operator();
    replica.kill("SIGKILL");
    await replica.exited;
    const lost = (
      await Promise.all(fleet.nodes.slice(1).map((node) => node.happen({ share: lostShare, seed: 2 }, "crash")))
    ).flat();
    const beganMs = performance.now();
    await fleet.startOperator("operator-next");
    const leadingMs = performance.now() - beganMs;
    const { noticedMs, replacedMs } = await whenReplaced(new Set(lost), fleet, bench);
    return {
      rows: [
        row("the next operator leads", "ms", leadingMs),
        row(`${lost.length} browsers that were lost meanwhile are noticed`, "ms", leadingMs + noticedMs, {
          target: { of: "measured", atMost: 30_000 },
        }),
        row("all of them are replaced", "ms", leadingMs + replacedMs),
      ],
    };
  },
};
