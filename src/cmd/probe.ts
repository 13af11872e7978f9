/**
 * `browserpool probe`: uses the service like a caller, and prints the result of each step.
 *
 *   pool (found, or created and filled) ──► acquire ──► drive a page over CDP ──► release ──► the created pool is deleted
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectCdp } from "../platform/cdp/cdp-connection.ts";
import { createPoolClient, type Pool, type PoolClient } from "./probe/pool-client.ts";
import type { ProbeConfig } from "./probe/probe-config.ts";

/** Between two reads of the page's title, ms. */
const lookEveryMs = 50;

const title = "browserpool probe";
const page = `data:text/html,<title>${title}</title>`;

/** The session's URL at the probed service's address: the URL in the answer may be for other callers. */
export const urlThrough = (cdpUrl: string, serviceUrl: string): string => {
  const url = new URL(cdpUrl);
  const { protocol, host } = new URL(serviceUrl);
  url.protocol = protocol === "https:" ? "wss:" : "ws:";
  url.host = host;
  return url.href;
};

/** Opens a page in the browser at `url`, checks its title, and closes it. Rejects when any step fails. */
export const drivePage = async (url: string, signal: AbortSignal): Promise<void> => {
  await using browser = await connectCdp({ url, headers: {} }, signal);
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  await browser.send("Page.navigate", { url: page }, { sessionId });
  // The browser answers when the page begins to load; its title follows a moment later.
  for (;;) {
    const { result } = await browser.send("Runtime.evaluate", { expression: "document.title" }, { sessionId });
    if (result.value === title) break;
    await sleep(lookEveryMs, undefined, { signal });
  }
  await browser.send("Target.closeTarget", { targetId });
};

/** Longest wait for the first browser of a new pool, ms: a node may have to pull its image. */
const fillLimitMs = 300_000;

/** Longest time of every other step, ms. */
const stepLimitMs = 60_000;

/** How long the service may keep an acquire waiting, s. */
const acquireSeconds = 50;

/** Between two requests for a pool that fills, and between two lines about it, ms. */
const pollEveryMs = 500;
const sayEveryMs = 10_000;

type Say = (line: string) => void;

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(2)} s`;

/** What else is done with the browser that was acquired. `url`: of its CDP endpoint. */
type FurtherStep = { what: string; run(url: string, signal: AbortSignal): Promise<void> };

type Run = { config: ProbeConfig; say: Say; signal: AbortSignal; further?: FurtherStep | undefined };

/** Runs one step within its time limit and prints a line about it. Rejects when the step fails. */
const step = async <T>(
  what: string,
  { config, say, signal }: Run,
  work: (client: PoolClient, signal: AbortSignal) => Promise<T>,
  limitMs = stepLimitMs,
): Promise<T> => {
  const startMs = performance.now();
  const limit = AbortSignal.timeout(limitMs);
  const until = AbortSignal.any([signal, limit]);
  try {
    const result = await work(createPoolClient(config, until), until);
    say(`ok      ${what} (${seconds(startMs)})`);
    return result;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const why = limit.aborted ? `not done within ${limitMs / 1000} s` : said;
    say(`FAILED  ${what} (${seconds(startMs)}): ${why}`);
    throw error;
  }
};

/** How long the cluster may refuse pods before no browser is waited for any more, ms: a quota may be full for a moment. */
const refusedLimitMs = 15_000;

/** The reason of a pool whose pods the cluster refuses. */
const refusedReason = "FailedCreate";

const fill = async ({ id }: Pool, say: Say, client: PoolClient, signal: AbortSignal): Promise<void> => {
  const startMs = performance.now();
  let saidMs = startMs;
  let wellMs = startMs;
  for (;;) {
    const { available_count, conditions } = await client.find(id);
    if (available_count > 0) return;
    const ready = conditions.find(({ type }) => type === "Ready");
    if (ready?.reason !== refusedReason) wellMs = performance.now();
    else if (performance.now() - wellMs > refusedLimitMs) throw new Error(ready.message);
    if (performance.now() - saidMs >= sayEveryMs) {
      saidMs = performance.now();
      say(`…       ${ready?.message ?? "no browser is up yet"} (${seconds(startMs)})`);
    }
    await sleep(pollEveryMs, undefined, { signal });
  }
};

/** The pool to acquire from. A pool that the probe created is deleted when `parts` is disposed of, in any case. */
const preparePool = async (run: Run, parts: AsyncDisposableStack): Promise<Pool> => {
  const { pool: known } = run.config;
  if (known !== undefined) return step(`find pool ${known}`, run, (client) => client.find(known));
  const name = `probe-${randomBytes(4).toString("hex")}`;
  const pool = await step(`make pool ${name} of one browser`, run, (client) => client.create(name));
  const remains = { ...run, signal: new AbortController().signal };
  parts.defer(() => step(`delete pool ${name}`, remains, (client) => client.remove(pool.id)));
  await step("fill it", run, (client, signal) => fill(pool, run.say, client, signal), fillLimitMs);
  return pool;
};

const tryBrowser = async (pool: Pool, run: Run): Promise<void> => {
  const session = await step("acquire a browser", run, (client) => client.acquire(pool.id, acquireSeconds));
  const url = urlThrough(session.cdp_ws_url, run.config.url);
  try {
    await step("drive a page over CDP", run, (_client, signal) => drivePage(url, signal));
    const { further } = run;
    if (further) await step(further.what, run, (_client, signal) => further.run(url, signal));
  } finally {
    const remains = { ...run, signal: new AbortController().signal };
    await step("release the browser", remains, (client) => client.release(pool.id, session));
  }
};

/**
 * Probes the service and returns the process's exit code: 0 when every step succeeded. `say` gets a line for each step.
 * The probe releases its browser and deletes its pool even when a step fails or `signal` is aborted.
 */
export const probe = async (
  config: ProbeConfig,
  say: Say,
  signal: AbortSignal,
  further?: FurtherStep,
): Promise<number> => {
  const startMs = performance.now();
  const run = { config, say, signal, further };
  try {
    await using parts = new AsyncDisposableStack();
    await tryBrowser(await preparePool(run, parts), run);
  } catch {
    // The step has printed the error.
    say(`probe: failed (${seconds(startMs)})`);
    return 1;
  }
  say(`probe: all well (${seconds(startMs)})`);
  return 0;
};
