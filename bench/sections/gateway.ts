/**
 * The cost of the way through the gateway and the agent, with a real Chromium behind it:
 *
 *   direct    this process ──────────────────────────────► Chromium
 *   splices   this process ──► relay ──► relay ──────────► Chromium     the least that two processes in between cost
 *   gateway   this process ──► api ────► agent ──────────► Chromium
 */
import { join } from "node:path";
import { startCluster, startPlainNode } from "../../test/support/cluster.ts";
import { fullPool } from "../../test/support/pool-client.ts";
import { measureIdleSockets } from "../gateway/idle-sockets.ts";
import { measureConnects, measureRoundTrips, measureThroughput } from "../gateway/speed.ts";
import { openWays } from "../gateway/ways.ts";
import type { Bench, Section } from "../section.ts";

/** With the 64 sockets that each session may have, these 16 sessions have a thousand. */
const idleSessions = 16;

const memoryHook = join(import.meta.dirname, "../gateway/memory-on-signal.ts");

const measure = async ({ seconds, signal, random, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  say("starting a cluster");
  const cluster = parts.use(await startCluster({ startNode: startPlainNode }));
  await cluster.startOperator("operator").logged("leading");
  const api = await cluster.startApi("api");
  const pool = await fullPool(api.call, 1);
  const ways = parts.use(await openWays(cluster, pool));
  const common = { signal, random: random() };
  say("round trips");
  const trips = await measureRoundTrips(ways, { ...common, seconds: seconds(15), batch: 50 });
  say("answers of 1 MB");
  const throughput = await measureThroughput(ways, { ...common, seconds: seconds(10), batch: 3 });
  say("connecting");
  const connects = await measureConnects(ways, { ...common, seconds: seconds(10), batch: 10 });
  say(`idle sockets: starting ${idleSessions} browsers`);
  // A new process that has carried nothing: memory that earlier connections freed would hide what sockets take.
  const fresh = await cluster.startApi("fresh-api", ["--expose-gc", "--import", memoryHook]);
  const crowd = await fullPool(fresh.call, idleSessions);
  const idle = await measureIdleSockets(fresh, { pool: crowd, sessions: idleSessions, signal });
  const all = [trips, throughput, connects, idle];
  return {
    rows: all.flatMap(({ rows }) => rows),
    detail: Object.assign({}, ...all.map(({ detail }) => detail)) as unknown,
  };
};

export const section: Section = {
  name: "gateway",
  summary: "CDP through gateway and agent, against a direct connection to the same Chromium",
  run: measure,
};
