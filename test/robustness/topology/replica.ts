/**
 * One replica of the product's api or operator, a process with ways of its own to Redis and to Kubernetes. It is
 * started anew when it ends, as an orchestrator would; an end that no fault asked for stands in the history.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../src/local/free-port.ts";
import { readLogTail } from "../../../src/platform/process/log-file.ts";
import { eventually } from "../../support/eventually.ts";
import { type HookClient, hookClient } from "../hook/hook-client.ts";
import { hookArguments } from "../hook/hook-options.ts";
import type { KillPoint } from "../hook/kill-points.ts";
import type { Recorder } from "../recorder/recorder.ts";
import type { KubeDoor } from "./kube-door.ts";
import type { Link } from "./links.ts";
import { type Program, startProgram } from "./program.ts";

type ReplicaOptions = {
  role: "api" | "operator";
  name: string;
  link: Link;
  kube: KubeDoor;
  /** Settings of the product, and where it finds Redis. */
  env: Record<string, string>;
  folder: string;
  logPath: string;
  /** Name of a seeded bug that it runs with. */
  bug?: string | undefined;
  recorder: Recorder;
};

export type Replica = {
  role: "api" | "operator";
  name: string;
  /** Of an api; the same over all its lives. */
  url: string;
  link: Link;
  kube: KubeDoor;
  logPath: string;
  /** The process of the moment. */
  program(): Program;
  hook(): HookClient;
  /** It dies when it comes to this point, and stays dead until `start`; resolves when it is gone. */
  dieAt(point: KillPoint): Promise<void>;
  /** Ends it and leaves it ended until `start`. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Resolves when an api answers its requests; an operator when it runs. `underFakeClock`: as set by `setClock`. */
  start(options?: { underFakeClock?: boolean }): Promise<void>;
  /** Moves the wall clock of a process that was started under a fake clock, s; it notices within a second. */
  setClock(offsetSeconds: number): Promise<void>;
  stop(): Promise<void>;
};

/** Of Debian's package libfaketime; a machine without it runs no fault with clocks. */
const fakeTimeLibrary = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketimeMT.so.1`;
export const hasFakeClock = (): boolean => existsSync(fakeTimeLibrary);

const main = join(import.meta.dirname, "../../../src/main.ts");

/** Between an end that nobody asked for and the next start, ms. */
const restartPauseMs = 500;

/** A start that finds Redis or Kubernetes away is given up by the process itself; so often in a row no fault lasts. */
const startTries = 30;

export const createReplica = async (options: ReplicaOptions): Promise<Replica> => {
  const { role, name, link, kube, folder, logPath, recorder } = options;
  const port = await freePort("127.0.0.1");
  const url = `http://127.0.0.1:${port}`;
  const clockFile = join(folder, `${name}.clock`);
  await mkdir(folder, { recursive: true });
  const hooked = hookArguments({ record: true, ...(options.bug !== undefined && { bug: options.bug }) });
  let program: Program | undefined;
  let hook: HookClient | undefined;
  let isWanted = false;

  const setClock = (offsetSeconds: number): Promise<void> =>
    writeFile(clockFile, `${offsetSeconds < 0 ? "" : "+"}${offsetSeconds}\n`);
  const fakeClock = {
    LD_PRELOAD: fakeTimeLibrary,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_CACHE_DURATION: "1",
  };
  const isAnswering = async (): Promise<boolean> => {
    if (role === "operator") return true;
    return (await fetch(`${url}/livez`, { signal: AbortSignal.timeout(2000) })).ok;
  };
  /** Starts the process once; false when it ended before it answered, as it does when it can't reach what it needs. */
  const launch = async (underFakeClock: boolean): Promise<boolean> => {
    const started = await startProgram({
      role,
      name,
      command: [process.execPath, ...hooked.args, main, role],
      env: {
        PATH: process.env.PATH ?? "",
        KUBECONFIG: kube.kubeconfigPath,
        HOSTNAME: name,
        BROWSERPOOL_PORT: String(port),
        ...options.env,
        ...hooked.env,
        ...(underFakeClock && fakeClock),
      },
      cwd: folder,
      logPath,
      ipc: true,
      recorder,
    });
    program = started;
    hook = hookClient(started.child);
    started.expectEnd(true);
    await eventually(`${name} answers`, async () => !started.isRunning() || (await isAnswering().catch(() => false)));
    if (!started.isRunning()) return false;
    started.expectEnd(false);
    void started.exited.then(async () => {
      if (!isWanted || program !== started) return;
      await sleep(restartPauseMs);
      if (isWanted && program === started) await start({ underFakeClock }).catch(() => undefined);
    });
    return true;
  };
  const start = async ({ underFakeClock = false } = {}): Promise<void> => {
    isWanted = true;
    for (let tries = 1; !(await launch(underFakeClock)); tries++) {
      if (tries === startTries)
        throw new Error(`${name} does not start; the end of ${logPath}:\n${await readLogTail(logPath)}`);
      await sleep(restartPauseMs);
    }
  };
  await setClock(0);
  const running = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error(`${name} was never started`);
    return part;
  };
  return {
    role,
    name,
    url,
    link,
    kube,
    logPath,
    program: () => running(program),
    hook: () => running(hook),
    async dieAt(point) {
      isWanted = false;
      running(program).expectEnd(true);
      running(hook).killAt(point);
      await running(program).exited;
    },
    async end(signal) {
      isWanted = false;
      if (signal === "SIGKILL") running(program).kill("SIGKILL");
      else await running(program).stop(stopGraceMs);
      await running(program).exited;
    },
    start,
    setClock,
    async stop() {
      isWanted = false;
      await program?.stop(stopGraceMs);
    },
  };
};

/** Longer than the product's own grace for open connections. */
const stopGraceMs = 15_000;
