/** What one caller waits for an idle browser, and for its release, compared with the steps that can't be left out. */
import { join } from "node:path";
import { loadAgentMasterKey } from "../../src/bootstrap/agent-master-key.ts";
import type { SigningKey } from "../../src/bootstrap/signing-key.ts";
import { loadSigningKey } from "../../src/bootstrap/signing-key.ts";
import type { AcquireLoad, AcquireTimes, Timed, Times } from "../leases/acquire-load.ts";
import { startService } from "../leases/service.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";

const size = 10;
const loadFile = join(import.meta.dirname, "../leases/acquire-load.ts");
const emptyRoute = join(import.meta.dirname, "../leases/empty-route.ts");

const pemOf = ({ privateKey }: SigningKey): string => privateKey.export({ type: "pkcs8", format: "pem" }) as string;

type Summaries = Record<Timed, Summary>;

/** `how`: a suffix for the row's name. */
const rowsOf = (what: "acquire" | "release", how: string, of: Summaries): Row[] => {
  const evalsha = of.evalsha;
  const parts = of.empty.p50 + evalsha.p50 + of.agent.p50;
  const { p50, p99 } = of[what];
  return [
    {
      what: `${what} p50${how}`,
      unit: "ms",
      measured: p50,
      floor: { what: "EVALSHA p50", value: evalsha.p50 },
      target: { of: "ratio", atMost: 12 },
    },
    {
      what: `${what} p99${how}`,
      unit: "ms",
      measured: p99,
      floor: { what: "EVALSHA p99", value: evalsha.p99 },
      target: { of: "ratio", atMost: 25 },
    },
    {
      what: `${what} p50${how}`,
      unit: "ms",
      measured: p50,
      floor: { what: "empty request + EVALSHA + agent call", value: parts },
      target: { of: "ratio", atMost: 1.4 },
    },
  ];
};

/** The steps of a request, each measured alone; the rest of its time is the service's own. */
const stepRows = (what: "acquire" | "release", steps: Timed[], of: Summaries): Row[] => {
  const step = (name: string, measured: number): Row => ({ what: `  ${what}: ${name}`, unit: "ms", measured });
  const sum = steps.reduce((total, name) => total + of[name].p50, 0);
  return [...steps.map((name) => step(name, of[name].p50)), step("the rest", of[what].p50 - sum)];
};

const summariesOf = (times: Times): Summaries =>
  Object.fromEntries(Object.entries(times).map(([name, series]) => [name, summarize(series)])) as Summaries;

const measure = async (bench: Bench) => {
  await using service = await startService({ size, apiArgs: ["--import", emptyRoute] }, bench);
  const { cluster, target, poolUid } = service;
  const signingKey = pemOf(await loadSigningKey({ kube: cluster.kube, namespace: "browserpool-system" }));
  const master = await loadAgentMasterKey({ kube: cluster.kube, namespace: "browserpool-system" });
  const masterKey = master.key.export().toString("base64");
  const seconds = bench.seconds(15);
  bench.say(`acquiring for ${seconds} s, every call in turn, then for ${seconds} s in rows`);
  const times = await runInOwnProcess<AcquireLoad, AcquireTimes>(
    loadFile,
    { target, poolUid, redisUrl: cluster.redisUrl, signingKey, masterKey, seconds, seed: bench.random()() * 2 ** 32 },
    bench,
  );
  const [mixed, inRows] = [summariesOf(times.mixed), summariesOf(times.inRows)];
  return {
    rows: [
      ...rowsOf("acquire", "", mixed),
      ...stepRows("acquire", ["empty", "take", "bind", "sign"], mixed),
      ...rowsOf("release", "", mixed),
      ...stepRows("release", ["empty", "releaseScript", "end", "offer"], mixed),
      ...rowsOf("acquire", ", in rows", inRows),
      ...rowsOf("release", ", in rows", inRows),
    ],
    detail: { mixed, inRows },
  };
};

export const section: Section = {
  name: "acquire",
  summary: "one caller acquires and releases, against a bare EVALSHA and against the sum of its parts",
  run: measure,
};
