/**
 * `browserpool local`:
 *
 *   runs already? ──yes──► says where, ends with 0
 *        └─no──► port ──► everything is started ──► pool demo, where there is none ──► the banner
 *                ──► first warm browser ──► kubectl, where there is none
 */
import type { RunningLocal } from "../local/banner.ts";
import { banner } from "../local/banner.ts";
import { DataDirInUse } from "../local/data-dir-lock.ts";
import { freePort } from "../local/free-port.ts";
import { portHolder } from "../local/port-holder.ts";
import type { Terminal } from "./client-program.ts";
import { getKubectl, writeCommands } from "./commands-folder.ts";
import { firstPool, whenWarm } from "./first-pool.ts";
import { consoleUrl, openPage } from "./open.ts";
import { CommandError, readConnection } from "./service.ts";

type Options = {
  /** Left out: `usualPort`, or the next free one. */
  port?: number;
  /** Absolute. */
  dataDir: string;
  fresh: boolean;
  demo: boolean;
  open: boolean;
  /** The file that agents are started with. */
  main: string;
};

const usualPort = 8080;

/** How many ports after the usual one are tried. */
const furtherPorts = 20;

const host = "127.0.0.1";

/** The port of the API, 0 for any; says so when it is another one than the usual. */
const choosePort = async (wanted: number | undefined, say: (line: string) => void): Promise<number> => {
  if (wanted === 0) return 0;
  const first = wanted ?? usualPort;
  if ((await freePort(host, first)) !== undefined) return first;
  const holder = (await portHolder(first)) ?? "another program";
  if (wanted !== undefined)
    throw new CommandError(`port ${first} of ${host} is taken by ${holder}: choose another one with --port`);
  for (let port = first + 1; port <= first + furtherPorts; port++)
    if ((await freePort(host, port)) !== undefined) {
      say(`port ${first} is taken by ${holder}: taking ${port}`);
      return port;
    }
  const last = first + furtherPorts;
  throw new CommandError(`ports ${first} to ${last} of ${host} are taken: choose another one with --port`);
};

/** Runs local mode until it is stopped. */
export const local = async (options: Options, { env, print, signal }: Terminal): Promise<void> => {
  const { dataDir, fresh, main } = options;
  const say = (line: string): void => print(`browserpool: ${line}`);
  const stop = signal();
  const tell = (error: unknown): void => {
    if (!stop.aborted) say(error instanceof Error ? error.message : String(error));
  };
  const places = { dataDir, main, env };
  const whenReady = async (running: RunningLocal): Promise<void> => {
    const tookMs = performance.now(); // since this process was started
    const service = { url: running.url, key: running.apiKey };
    const hasKubectl = await writeCommands(places);
    const pool = running.demoPool ?? (await firstPool(service, stop).catch(tell)) ?? undefined;
    const page = await consoleUrl(service, stop);
    print(banner(running, { pool, page }, tookMs));
    if (options.open) void openPage(page, env, stop).catch(tell);
    if (pool !== undefined) {
      await whenWarm(service, pool, stop);
      say(`first warm browser of pool ${pool} after ${(performance.now() / 1000).toFixed(1)} s`);
    }
    if (!hasKubectl) await getKubectl(places, stop);
  };
  let readied: Promise<void> | undefined;
  const onReady = (running: RunningLocal): void => {
    readied = whenReady(running).catch(tell);
  };
  const { runLocal } = await import("../cmd/local.ts");
  // A small young generation: an agent makes little garbage, and every browser has one.
  const agentCommand = [process.execPath, "--max-semi-space-size=1", main] as const;
  const choose = (): Promise<number> => choosePort(options.port, say);
  try {
    await runLocal({ choosePort: choose, dataDir, fresh, demo: options.demo, agentCommand, say }, onReady, stop);
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    const connection = await readConnection(dataDir);
    if (!connection) throw new CommandError(`${error.message}; it is starting or stopping`);
    say(`runs already: ${connection.url} (process ${connection.pid}, data in ${dataDir})`);
  } finally {
    await readied;
  }
};
