/**
 * The Chromium that a browser has at the moment: each new start kills it, clears away what it has left, and puts
 * another in its place.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { awaitWith } from "../../platform/base/retry.ts";
import type { ArchiveRef, BrowserSetup } from "../protocol/browser-setup.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { PreparePart } from "./browser-parts.ts";
import { type Chromium, groupsFileOf, startChromium } from "./chromium.ts";
import { archivesDir, moveAside, removeMoved } from "./files-dir.ts";
import type { ReceivedSetup } from "./receive-setup.ts";
import type { StartSettings } from "./start-settings.ts";

// The folders that Chromium can write to and that belong to this agent alone: a pod's /tmp and /dev/shm, in local mode
// the pod's folder. A holder with CDP can send downloads to any of them.

/** `remove`: deletes what was moved away; rejects when something can't be deleted. */
type Cleared = { remove(): Promise<void> };

/**
 * Moves everything but what is the agent's own out of the way, so that a new browser can start in the scratch folders
 * before the old files are deleted. `others`: further paths that stay; given, the session goes on, and its files stay
 * too. Rejects when something can't be moved. Call it while no browser runs.
 */
const clearScratch = async (config: AgentConfig, others?: readonly string[]): Promise<Cleared> => {
  const { terminationLog, policyDir = "", dataDir, filesDir, scratchDirs } = config;
  // The next start writes the policies anew, and checks the archives' digests.
  const kept = new Set([
    terminationLog,
    archivesDir(config),
    policyDir,
    dataDir,
    ...(others ? [filesDir, ...others] : []),
  ]);
  const cleared = scratchDirs.filter((folder) => !others || folder !== filesDir);
  const moved = await Promise.all(cleared.map((folder) => moveAside(folder, (name) => !kept.has(join(folder, name)))));
  const trash = moved.filter((folder) => folder !== undefined);
  return {
    async remove() {
      await Promise.all(trash.map(removeMoved));
    },
  };
};

/** Longest time of a new start, ms: a start of Chromium, and some seconds for what a holder has left on the disk. */
export const startDeadlineMs = 40_000;

/** What features add to the browser. */
export type AgentParts = {
  prepare: readonly PreparePart[];
  /** Unpacks the archive of a profile into an empty folder. Rejects for an archive that can't be unpacked. */
  loadProfile(file: string, place: { ref: ArchiveRef; profileDir: string }, signal: AbortSignal): Promise<void>;
  /** Loads them into a Chromium that runs: all, or none. Rejects as a start with them, or when `signal` is aborted. */
  addExtensions(
    extensions: BrowserSetup["extensions"],
    place: Pick<Chromium, "devTools" | "folder"> & Pick<ReceivedSetup, "archive">,
    signal: AbortSignal,
  ): Promise<void>;
};

/** Takes the lines of each Chromium. */
export type ChromiumLogs = {
  /** A Chromium starts, and the former one is no more. Returns what takes its lines. */
  startChromium(): (line: string) => void;
};

export type RunningChromium = {
  present(): Chromium;
  /** The setup that the present one was started with. */
  startedWith(): BrowserSetup | undefined;
  /**
   * Kills the present one and starts another. `kept`: paths that this one needs. Rejects when it does not come, or
   * `stop` is aborted: then there is none, and this may be called again.
   */
  startAnew(made: StartSettings, stop: AbortSignal, kept?: string[]): Promise<void>;
  /** Resolves with what happened when the present one ends by itself. Never rejects. */
  crashed: Promise<string>;
  /** Ends it, as `Browser.stop`. */
  stop(atOnce: boolean): Promise<void>;
};

/**
 * Starts the first one. `signal` aborts this start and every later one. `logs`: gets the lines of each. `onSpawn`:
 * called once the first runs.
 */
export const runChromium = async (
  config: AgentConfig,
  first: StartSettings,
  signal: AbortSignal,
  { parts, logs, onSpawn }: { parts: AgentParts; logs?: ChromiumLogs; onSpawn?: () => void },
): Promise<RunningChromium> => {
  const crashed = Promise.withResolvers<string>();
  let startedWith: BrowserSetup | undefined;
  /** The Chromium that the last new start has ended. */
  let former: Chromium | undefined;

  const start = async (
    { viewport, location, received }: StartSettings,
    stop: AbortSignal,
    onFirstSpawn?: () => void,
  ): Promise<Chromium> => {
    startedWith = received?.setup;
    const browser = { ...config.browser, viewport, location };
    const started = await startChromium({ ...config, browser }, received, stop, {
      prepare: parts.prepare,
      onLine: logs?.startChromium(),
      onSpawn: onFirstSpawn,
    });
    void started.ended.then((how) => {
      if (started !== former) crashed.resolve(how);
    });
    return started;
  };
  const forgetGroups = (): Promise<void> => rm(groupsFileOf(config), { force: true });
  let chromium = await start(first, signal, onSpawn).catch(async (error: unknown) => {
    await forgetGroups();
    throw error;
  });
  return {
    present: () => chromium,
    startedWith: () => startedWith,
    async startAnew(made, stop, kept) {
      const late = AbortSignal.timeout(startDeadlineMs);
      former = chromium;
      const { gone } = await former.kill();
      await forgetGroups();
      const { remove } = await clearScratch(config, kept);
      // The kernel takes its time to free the memory of killed processes, and the disk to free the files.
      const deleting = awaitWith(gone.then(former.stop).then(remove), late);
      deleting.catch(() => undefined);
      chromium = await start(made, AbortSignal.any([signal, stop, late]));
      await deleting;
    },
    crashed: crashed.promise,
    async stop(atOnce) {
      if (atOnce) await (await chromium.kill()).gone;
      await chromium.stop();
      await forgetGroups();
    },
  };
};
