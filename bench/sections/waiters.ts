/** Very many callers that wait for one browser: what each costs, and whether they are served in order. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { viewLeases } from "../../test/support/lease-view.ts";
import { type Memory, memoryReader } from "../gateway/idle-sockets.ts";
import { startService } from "../leases/service.ts";
import type { WaitersLoad, WaitersResult } from "../leases/waiters-load.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const waiters = 2000;
const loadFile = join(import.meta.dirname, "../leases/waiters-load.ts");
const memoryHook = join(import.meta.dirname, "../gateway/memory-on-signal.ts");

const measure = async (bench: Bench) => {
  const { signal, say } = bench;
  await using service = await startService({ size: 1, apiArgs: ["--expose-gc", "--import", memoryHook] }, bench);
  const { cluster, api, pool, poolUid, target } = service;
  const leases = await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace);
  const readMemory = memoryReader(api);
  const whenWaiting = async (count: number): Promise<void> => {
    while ((await leases.store.snapshot(poolUid)).waiting !== count) await sleep(100, undefined, { signal });
  };
  const run = async (count: number): Promise<WaitersResult & { during: Memory }> => {
    const held = await pool.acquire();
    const load = { target, poolUid, redisUrl: cluster.redisUrl, waiters: count };
    const result = runInOwnProcess<WaitersLoad, WaitersResult>(loadFile, load, { signal });
    await Promise.race([whenWaiting(count), result]);
    const during = await readMemory();
    await pool.release(held);
    return { ...(await result), during };
  };
  try {
    await run(50); // compiles the code that waiting uses
    const before = await readMemory();
    say(`${waiters} callers queue up`);
    const { during, enqueues, handOvers, outOfOrder } = await run(waiters);
    const enqueue = summarize(enqueues);
    const handOver = summarize(handOvers);
    const each = (of: (memory: Memory) => number): number => (of(during) - of(before)) / waiters;
    const memory = (what: string, measured: number): Row => ({
      what: `each waiting caller, ${what}`,
      unit: "bytes",
      measured,
      target: { of: "measured", atMost: 40_000 },
    });
    const rows: Row[] = [
      memory(
        "resident",
        each(({ rss }) => rss),
      ),
      memory(
        "heap and buffers",
        each(({ heapUsed, external }) => heapUsed + external),
      ),
      { what: "into the queue p99", unit: "ms", measured: enqueue.p99, target: { of: "measured", atMost: 50 } },
      { what: "from hand to hand p50", unit: "ms", measured: handOver.p50 },
      { what: "served out of order", unit: "count", measured: outOfOrder, target: { of: "measured", atMost: 0 } },
    ];
    return { rows, detail: { before, during, enqueue, handOver } };
  } finally {
    leases.close();
  }
};

export const section: Section = {
  name: "waiters",
  summary: `${waiters} callers wait for one browser`,
  run: measure,
};
