/** What an api replica's processor spends on a lease, and how much of it a bare server of Node would save. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { emptyPath } from "../leases/empty-path.ts";
import type { RowsLoad } from "../leases/rows-load.ts";
import { startService } from "../leases/service.ts";
import { runInOwnProcess } from "../own-process.ts";
import { cpuSecondsOf } from "../process-time.ts";
import type { Bench, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const size = 10;
const calls = 2000;
const rounds = 7;
const loadFile = join(import.meta.dirname, "../leases/rows-load.ts");
const emptyRoute = join(import.meta.dirname, "../leases/empty-route.ts");
const rawServer = join(import.meta.dirname, "../leases/raw-server.ts");

const startRawServer = async () => {
  const child = fork(rawServer);
  const [port] = (await once(child, "message")) as [number];
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
};

const measure = async (bench: Bench) => {
  await using service = await startService({ size, apiArgs: ["--import", emptyRoute] }, bench);
  await using raw = await startRawServer();
  const { target, api } = service;
  const ways = {
    lease: { pid: api.process.pid ?? 0, load: { target, calls } },
    empty: { pid: api.process.pid ?? 0, load: { target, path: emptyPath, calls } },
    raw: { pid: raw.pid, load: { target: { ...target, url: raw.url }, path: "/", calls } },
  };
  const spent: Record<keyof typeof ways, number[]> = { lease: [], empty: [], raw: [] };
  // The first round compiles and connects.
  for (let round = -1; round < rounds; round++) {
    bench.say(round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`);
    for (const [name, { pid, load }] of Object.entries(ways) as [keyof typeof ways, (typeof ways)["lease"]][]) {
      const before = await cpuSecondsOf(pid);
      await runInOwnProcess<RowsLoad, undefined>(loadFile, load, bench);
      if (round >= 0) spent[name].push(((await cpuSecondsOf(pid)) - before) * (1000 / calls));
    }
  }
  const [lease, empty, bare] = [spent.lease, spent.empty, spent.raw].map((series) => summarize(series).p50);
  return {
    rows: [
      {
        what: "api's processor, an acquire and a release",
        unit: "ms" as const,
        measured: lease ?? Number.NaN,
        target: { of: "measured" as const, atMost: 1.2 },
      },
      {
        what: "api's processor, an empty request",
        unit: "ms" as const,
        measured: empty ?? Number.NaN,
        floor: { what: "bare node:http", value: bare ?? Number.NaN },
      },
    ],
    detail: spent,
  };
};

export const section: Section = {
  name: "api-cpu",
  summary: "the api's processor for a lease, for an empty request, and that of a bare server of Node",
  run: measure,
};
