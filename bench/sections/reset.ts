/**
 * From the release of a used browser to its next idle moment, against a bare launch of the same Chromium; and callers
 * taking turns.
 */
import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentParts } from "../../src/cmd/agent.ts";
import { readAgentConfig } from "../../src/core/agent/agent-config.ts";
import { startChromium } from "../../src/core/agent/chromium.ts";
import { writeAgentKey } from "../../src/core/protocol/agent-key.ts";
import { type Cluster, startCluster } from "../../test/support/cluster.ts";
import { viewLeases } from "../../test/support/lease-view.ts";
import { type Call, fullPool, openCdp, type PoolClient } from "../../test/support/pool-client.ts";
import { interleaved } from "../interleaved.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

/** Callers of kept browsers take more turns than one key may by default. */
const unbounded = { BROWSERPOOL_KEY_REQUESTS_PER_SECOND: "100000", BROWSERPOOL_PROJECT_REQUESTS_PER_SECOND: "100000" };

const callers = 10;
const browsers = 3;

/** What an agent needs to know for a Chromium of its own in `dataDir`. Its keys and addresses are not used. */
const configOf = (headless: boolean, dataDir: string) =>
  readAgentConfig({
    ...process.env,
    BROWSERPOOL_BROWSER: JSON.stringify({ headless, kiosk_mode: false, viewport: { width: 1920, height: 1080 } }),
    BROWSERPOOL_AGENT_PUBLIC_KEY: generateKeyPairSync("ed25519")
      .publicKey.export({ type: "spki", format: "der" })
      .toString("base64"),
    BROWSERPOOL_AGENT_KEY: writeAgentKey(createSecretKey(randomBytes(32))),
    BROWSERPOOL_AGENT_ADDRESS: "127.0.0.1",
    BROWSERPOOL_AGENT_PORT: "0",
    BROWSERPOOL_POD_UID: "bench",
    BROWSERPOOL_POD_NAME: "bench",
    BROWSERPOOL_AGENT_DATA_DIR: dataDir,
  });

const takeTurn = async (pool: PoolClient): Promise<string> => {
  const session = await pool.acquire();
  const cdp = await openCdp(session);
  await cdp.version();
  cdp.close();
  return session.session_id;
};

type Parts = { cluster: Cluster; call: Call; bench: Bench };

const measureReset = async (headless: boolean, { cluster, call, bench }: Parts): Promise<Row> => {
  const { say, signal, random } = bench;
  const name = headless ? "headless" : "headful";
  say(`starting one ${name} browser`);
  const pool = await fullPool(call, 1, { headless });
  await using parts = new AsyncDisposableStack();
  parts.defer(async () => void (await call("DELETE", `/browser_pools/${pool.id}`, { force: true })));
  const leases = parts.adopt(await viewLeases(cluster.redisUrl, cluster.kube, cluster.namespace), (view) =>
    view.close(),
  );
  const dataDir = parts.adopt(await mkdtemp(join(tmpdir(), "bench-")), (dir) =>
    rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  );
  const config = configOf(headless, dataDir);
  const poolUid = await leases.uidOf(pool.id);
  const times = { launch: [] as number[], release: [] as number[] };
  const timed = async (what: keyof typeof times, work: () => Promise<void>): Promise<void> => {
    const beganMs = performance.now();
    await work();
    times[what].push(performance.now() - beganMs);
  };
  const variants = {
    async launch() {
      let stop = async (): Promise<void> => undefined;
      await timed("launch", async () => {
        const chromium = await startChromium(config, undefined, signal, { prepare: agentParts.prepare });
        stop = chromium.stop;
        await chromium.isHealthy();
      });
      await stop();
    },
    async release() {
      const session_id = await takeTurn(pool);
      await timed("release", async () => {
        await pool.release({ session_id });
        while ((await leases.store.counts(poolUid)).available < 1) await sleep(1, undefined, { signal });
      });
    },
  };
  await interleaved({ seconds: bench.seconds(30), batch: 1, random: random(), signal }, variants);
  const [launch, release] = [summarize(times.launch), summarize(times.release)];
  return {
    what: `${name}: release to idle again, p50`,
    unit: "ms",
    measured: release.p50,
    floor: { what: headless ? "bare launch" : "bare launch with its screen", value: launch.p50 },
    target: { of: "ratio", atMost: 1.5 },
  };
};

/** Leases per minute of all callers together. */
const measureTurns = async (reuse_policy: "reset" | "keep", { call, bench }: Parts): Promise<number> => {
  bench.say(`${callers} callers take turns with ${browsers} browsers, ${reuse_policy}`);
  const pool = await fullPool(call, browsers, { reuse_policy });
  const seconds = bench.seconds(30);
  const untilMs = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < untilMs && !bench.signal.aborted) {
        await pool.release({ session_id: await takeTurn(pool) });
        count += 1;
      }
    }),
  );
  await call("DELETE", `/browser_pools/${pool.id}`, { force: true });
  return (count * 60) / seconds;
};

const measure = async (bench: Bench) => {
  await using parts = new AsyncDisposableStack();
  bench.say("starting a cluster");
  const cluster = parts.use(await startCluster({ env: unbounded }));
  await cluster.startOperator("operator").logged("leading");
  const { call } = await cluster.startApi("api");
  const all = { cluster, call, bench };
  const rows = [await measureReset(true, all), await measureReset(false, all)];
  const keep = await measureTurns("keep", all);
  const reset = await measureTurns("reset", all);
  rows.push({
    what: `leases a minute, ${callers} callers on ${browsers} browsers`,
    unit: "count",
    measured: reset,
    floor: { what: "kept browsers", value: keep },
  });
  return { rows };
};

export const section: Section = {
  name: "reset",
  summary: "a used browser made anew, against a bare launch of the same Chromium",
  run: measure,
};
