/** What a project notices when another one, or a stranger, floods the same replica of the API. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiReplica } from "../../test/support/cluster.ts";
import { type Call, fullPool } from "../../test/support/pool-client.ts";
import { startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import type { Target } from "../leases/client.ts";
import type { FloodLoad, FloodResult } from "../limits/flood-load.ts";
import { runInOwnProcess } from "../own-process.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const loadFile = join(import.meta.dirname, "../limits/flood-load.ts");

/** Requests a second: of the quiet project, of the loud one within its bound and far above it, and without a ticket. */
const quietPerSecond = 40;
const withinPerSecond = 200;
const abovePerSecond = 1000;
const ticketlessPerSecond = 500;
/** Each phase is measured so often, in turns, so that all of them find the machine alike. */
const rounds = 3;

/** The bounds as they are by default; those of simulated clusters are raised. */
const bounds = { BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "250", BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "500" };

type Caller = { apiKey: string };

const newCaller = async ({ call }: ApiReplica, name: string): Promise<Caller> => {
  const made = async <T>(path: string, body: object): Promise<T> => {
    const answer = await call("POST", path, body);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const { id: projectId } = await made<{ id: string }>("/org/projects", { name });
  const { key } = await made<{ key: string }>("/org/api_keys", { name, project_id: projectId });
  return { apiKey: key };
};

/**
 * Seconds of a processor that the replica has used, and its requests to the API server, without watches and its
 * readiness.
 */
const usageOf = async (url: string): Promise<{ cpuSeconds: number; kubeRequests: number }> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (metric: RegExp, but = /^$/): number =>
    text
      .split("\n")
      .filter((line) => metric.test(line) && !but.test(line))
      .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  return {
    cpuSeconds: sum(/^process_cpu_seconds_total /),
    kubeRequests: sum(/^browserpool_kube_requests_total\{/, /"WATCH"|"readyz"/),
  };
};

/** A project with a full pool, and one that floods. */
const startProjects = async (api: ApiReplica): Promise<{ target: Target; loud: Caller }> => {
  const [quiet, loud] = [await newCaller(api, "quiet"), await newCaller(api, "loud")];
  const call: Call = (method, path, body) =>
    fetch(api.url + path, {
      method,
      headers: { authorization: `Bearer ${quiet.apiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const { id: poolId } = await fullPool(call, 10);
  return { target: { url: api.url, apiKey: quiet.apiKey, poolId }, loud };
};

type Phase = { name: string; floods?: ((round: number) => FloodLoad)[] };

/**
 * Alone, beside the other project within its bound and above it, and beside requests to the login without a ticket.
 * `elsewhere` is as `above`, but what is above goes to a server that refuses without looking: what the load alone does
 * to a machine that it shares.
 */
const phasesOf = ({ url, bareUrl }: { url: string; bareUrl: string }, loud: Caller, seconds: number): Phase[] => {
  const flood = { kind: "flood", url, seconds: seconds + 2 } as const;
  const headers = { authorization: `Bearer ${loud.apiKey}` };
  const list = (perSecond: number) => (seed: number) =>
    ({ ...flood, path: "/browser_pools", method: "GET", headers, perSecond, seed }) as const;
  const bare = (seed: number) => ({ ...list(abovePerSecond - withinPerSecond)(seed), url: bareUrl });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const place = "/login/default/connection";
  const login = (seed: number): FloodLoad => ({
    ...flood,
    ...(seed % 2 === 0
      ? { path: `${place}/form`, method: "GET" }
      : { path: place, method: "POST", body: `code=${"x".repeat(72)}` }),
    headers: form,
    perSecond: ticketlessPerSecond,
    seed,
  });
  return [
    { name: "alone" },
    { name: "within", floods: [list(withinPerSecond)] },
    { name: "elsewhere", floods: [list(withinPerSecond), bare] },
    { name: "above", floods: [list(abovePerSecond)] },
    { name: "login", floods: [login] },
  ];
};

/** A server in this process, which has nothing else to do, that answers 429 and nothing else. */
const startBareServer = async () => {
  const server = createServer((_, response) => response.writeHead(429).end("{}"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close().closeAllConnections(),
  };
};

/** What a phase, or all rounds of it, showed. */
type Sum = {
  latencies: number[];
  statuses: Record<number, number>;
  errors: number;
  kubeRequests: number;
  cpuMs: number;
};

const noSum = (): Sum => ({ latencies: [], statuses: {}, errors: 0, kubeRequests: 0, cpuMs: 0 });

const added = (a: Sum, b: Sum): Sum => {
  const known = new Set([...Object.keys(a.statuses), ...Object.keys(b.statuses)].map(Number));
  const statuses = [...known].map((status) => [status, (a.statuses[status] ?? 0) + (b.statuses[status] ?? 0)]);
  return {
    latencies: [...a.latencies, ...b.latencies],
    statuses: Object.fromEntries(statuses),
    errors: a.errors + b.errors,
    kubeRequests: a.kubeRequests + b.kubeRequests,
    cpuMs: a.cpuMs + b.cpuMs,
  };
};

const runPhase = async (
  url: string,
  { floods = [] }: Phase,
  { acquires, round, signal }: { acquires: FloodLoad; round: number; signal: AbortSignal },
): Promise<Sum> => {
  const before = await usageOf(url);
  const start = (load: FloodLoad) => runInOwnProcess<FloodLoad, FloodResult>(loadFile, load, { signal });
  const flooding = Promise.all(floods.map((flood) => start(flood(round))));
  if (floods.length > 0) await sleep(1500, undefined, { signal });
  const own = await start(acquires);
  const [flooded] = await flooding;
  const after = await usageOf(url);
  return {
    latencies: own.latencies,
    statuses: flooded?.statuses ?? {},
    errors: own.statuses[0] ?? 0,
    kubeRequests: after.kubeRequests - before.kubeRequests,
    cpuMs: (after.cpuSeconds - before.cpuSeconds) * 1000,
  };
};

/** `sums`: of each phase, by its name. */
const rowsOf = (sums: Record<string, Sum>): Row[] => {
  const sumOf = (name: string): Sum => sums[name] ?? noSum();
  const of = (name: string) => summarize(sumOf(name).latencies);
  const count = (name: string, status: number): number => sumOf(name).statuses[status] ?? 0;
  const cpuMs = (name: string): number => sumOf(name).cpuMs - sumOf("alone").cpuMs;
  const p99 = (what: string, name: string, floor?: string): Row => ({
    what: `acquire p99 of the other project, ${what}`,
    unit: "ms",
    measured: of(name).p99,
    ...(floor && { floor: { what: floor, value: of(floor).p99 } }),
  });
  const exactly = (what: string, measured: number, atMost?: number): Row => ({
    what,
    unit: "count",
    measured,
    ...(atMost !== undefined && { target: { of: "measured", atMost } }),
  });
  const errors = Object.values(sums).reduce((total, sum) => total + sum.errors, 0);
  const withinMs = cpuMs("within") / count("within", 200);
  const rows: Row[] = [
    p99("alone", "alone"),
    p99(`beside ${withinPerSecond}/s within the bound`, "within", "alone"),
    p99(`beside ${withinPerSecond}/s there and ${abovePerSecond - withinPerSecond}/s elsewhere`, "elsewhere", "within"),
    p99(`beside ${abovePerSecond}/s, 4 × the bound`, "above", "elsewhere"),
    p99(`beside ${ticketlessPerSecond}/s of hosted login without a ticket`, "login", "alone"),
    {
      what: "processor time of a request without a ticket",
      unit: "ms",
      measured: cpuMs("login") / (count("login", 403) + count("login", 429)),
    },
    {
      what: "processor time of a request above the bound",
      unit: "ms",
      measured: (cpuMs("above") - withinMs * count("above", 200)) / count("above", 429),
      floor: { what: "one within the bound", value: withinMs },
    },
    exactly("errors of the other project", errors, 0),
    exactly("answers 200 to the flood", count("above", 200)),
    exactly("answers 429 to the flood", count("above", 429)),
    exactly("answers 403 without a ticket", count("login", 403)),
    exactly("answers 429 without a ticket", count("login", 429)),
    exactly(
      "requests to the API server without a ticket",
      sumOf("login").kubeRequests - sumOf("alone").kubeRequests,
      0,
    ),
  ];
  return rows;
};

const measure = async (bench: Bench) => {
  const { signal, say } = bench;
  const seconds = bench.seconds(10);
  await using cluster = await startSimulatedCluster({ env: bounds });
  await cluster.startOperator("operator").logged("leading");
  const api = await cluster.startApi("api");
  const { target, loud } = await startProjects(api);
  await using bare = await startBareServer();
  const phases = phasesOf({ url: api.url, bareUrl: bare.url }, loud, seconds);
  const acquires: FloodLoad = { kind: "acquires", target, perSecond: quietPerSecond, seconds, seed: 1 };
  const sums: Record<string, Sum> = Object.fromEntries(phases.map(({ name }) => [name, noSum()]));
  for (let round = 0; round <= rounds; round++)
    for (const phase of phases) {
      say(round === 0 ? `warming up: ${phase.name}` : `round ${round} of ${rounds}: ${phase.name}`);
      const measured = await runPhase(api.url, phase, { acquires: { ...acquires, seed: round }, round, signal });
      if (round > 0) sums[phase.name] = added(sums[phase.name] ?? noSum(), measured);
    }
  return { rows: rowsOf(sums), detail: sums };
};
export const section: Section = {
  name: "limits",
  summary: "a quiet project beside one that floods, and beside a flooded login page",
  run: measure,
};
