/** Actions per second of one session: on a leased browser, on a bare Chromium, and on one that browserless gives. */
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { requiredProgram } from "../../src/local/required-program.ts";
import { startCluster, startPlainNode } from "../../test/support/cluster.ts";
import { fullPool } from "../../test/support/pool-client.ts";
import { startTwoSplices } from "../gateway/splices.ts";
import { interleaved } from "../interleaved.ts";
import { headlessFlags, launch } from "../on-demand/usable-page.ts";
import type { Bench, Row, Section } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";
import { startBrowserless } from "../throughput/browserless.ts";
import { type Script, scripts } from "../throughput/scripts.ts";
import { startSite } from "../throughput/site.ts";

/** `splices`: two bare relays before the Chromium of `direct`, the least that two processes in between cost. */
type Way = "direct" | "gateway" | "splices" | "browserless";
type Urls = Partial<Record<Way, string>>;

/** Loops of one way before the next one's turn. */
const batch = 4;

/** A browser leased from a pool. */
const openGateway = async (parts: AsyncDisposableStack): Promise<string> => {
  const cluster = parts.use(await startCluster({ startNode: startPlainNode }));
  await cluster.startOperator("operator").logged("leading");
  const { call } = await cluster.startApi("api");
  const pool = await fullPool(call, 1);
  const session = await pool.acquire();
  parts.defer(async () => void (await pool.release(session)));
  return session.cdp_ws_url;
};

/** A Chromium that nothing but the script is connected to. */
const openDirect = async (parts: AsyncDisposableStack): Promise<{ direct: string; splices: string }> => {
  const { browser } = parts.adopt(await launch(), (one) => one.close());
  const direct = new URL(browser.wsEndpoint());
  await browser.disconnect();
  const splices = parts.use(await startTwoSplices(Number(direct.port)));
  return { direct: direct.href, splices: Object.assign(new URL(direct), { port: String(splices.port) }).href };
};

const openBrowserless = async (folder: string, { signal }: Bench, parts: AsyncDisposableStack): Promise<string> => {
  const program = requiredProgram(locatePrograms(process.env), "chromium-headless-shell");
  const { urlFor } = parts.use(await startBrowserless(folder, { program, signal }));
  return urlFor(headlessFlags("").filter((flag) => !/^--(user-data-dir|remote-debugging-port)=/.test(flag)));
};

/** Times of a script's loop by each way, by turns, ms. */
const timesOf = async (
  script: Script,
  { urls, siteUrl, bench }: { urls: Urls; siteUrl: string; bench: Bench },
): Promise<Record<Way, Summary>> => {
  await using parts = new AsyncDisposableStack();
  const loops: [string, () => Promise<void>][] = [];
  for (const [way, url] of Object.entries(urls)) {
    const { loop, close } = await script.connect(url, siteUrl);
    parts.defer(close);
    loops.push([way, loop]);
  }
  const seconds = bench.seconds(20);
  const common = { seconds, batch, random: bench.random(), signal: bench.signal };
  const times: Record<string, number[]> = await interleaved(common, Object.fromEntries(loops));
  return Object.fromEntries(Object.entries(times).map(([way, series]) => [way, summarize(series)])) as never;
};

const rowsOf = ({ what, actions }: Script, { direct, gateway, splices, browserless }: Record<Way, Summary>): Row[] => {
  const rate = ({ p50 }: Summary): number => (actions * 1000) / p50;
  const floor = { what: "direct", value: rate(direct) };
  const row = (name: string, measured: Summary, more: Partial<Row> = {}): Row => ({
    what: name,
    unit: "1/s",
    measured: rate(measured),
    floor,
    ...more,
  });
  return [
    row(what, gateway, { target: { of: "ratio", atLeast: 0.9 } }),
    row("  two bare relays", splices),
    ...(browserless ? [row("  browserless", browserless)] : []),
  ];
};

const measure = async (bench: Bench) => {
  await using parts = new AsyncDisposableStack();
  bench.say("starting a cluster with one browser, and a bare one");
  const urls: Urls = { gateway: await openGateway(parts), ...(await openDirect(parts)) };
  if (bench.browserless !== undefined) urls.browserless = await openBrowserless(bench.browserless, bench, parts);
  const { url: siteUrl } = parts.use(await startSite());
  const rows: Row[] = [];
  const detail: Record<string, Record<Way, Summary>> = {};
  for (const script of scripts) {
    bench.say(script.what);
    const times = await timesOf(script, { urls, siteUrl, bench });
    rows.push(...rowsOf(script, times));
    detail[script.what] = times;
  }
  return { rows, detail };
};

export const section: Section = {
  name: "throughput",
  summary: "actions per second of one session, against a direct connection to the same kind of Chromium",
  run: measure,
};
