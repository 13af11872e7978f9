import { mkdirSync, mkdtempSync, statfsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startGroupProcess } from "../../platform/process/group-process.ts";
import { endMarked, markName, newMark } from "../../platform/process/marked-processes.ts";
import type { AgentConfig } from "./agent-config.ts";
import { type BrowserParts, type PreparePart, prepareParts, type Wall } from "./browser-parts.ts";
import { chromiumFlags, windowSize } from "./chromium-flags.ts";
import { locationEnv } from "./chromium-location.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import { makeFilesDir } from "./files-dir.ts";
import { writeFirstPreferences } from "./first-preferences.ts";
import type { FreedTabs } from "./free-tabs.ts";
import { withoutOtherPrograms } from "./no-other-programs.ts";
import type { PageOrder } from "./page-order.ts";
import type { ReceivedSetup } from "./receive-setup.ts";
import type { VirtualScreen } from "./virtual-screen.ts";
import type { Windows } from "./windows.ts";

/** Chromium answers after 0.4 to 1.1 s; it needs longer on a machine where many start at once. */
const startDeadlineMs = 30_000;

/** Time for Chromium to exit after SIGTERM; then it is killed. A pod has 10 s in all. */
const chromiumGraceMs = 2000;
/** Time for Chromium to write what it has in memory and to exit, ms. Pages have no say in it. */
const closeMs = 30_000;
/** Time for Chromium's other processes to end after it, ms. The forwarders of a wall don't, and are killed then. */
const lastWritesMs = 500;
/** Xvfb exits at once on SIGTERM and then removes its socket and lock file. */
const screenGraceMs = 500;

/** With a smaller /dev/shm, Chromium must keep its shared memory in files. */
const enoughSharedMemoryBytes = 256 * 1024 * 1024;

/**
 * The lock socket of a Chromium that is not the shell is a path of up to 46 characters below the temp folder, and a
 * socket's path has 107 at most. The sockets of a wall have shorter names.
 */
const longestTempDir = 60;

/** One run of Chromium, with the screen and the folder that it has for itself. */
export type Chromium = {
  devTools: DevToolsPlace;
  pageOrder: PageOrder;
  /** Of a headful browser. */
  screen: Pick<VirtualScreen, "connect"> | undefined;
  /** Whether it is the headless shell, which knows no extensions. */
  isShell: boolean;
  /** Its folder, which goes with it: features keep files there. */
  folder: string;
  /**
   * Makes one CDP round trip; false when Chromium does not answer within 2 s. Concurrent calls share one round trip.
   */
  isHealthy(): Promise<boolean>;
  /** Such as 156.0.7800.12; undefined before the first round trip, and where Chromium says something else. */
  version(): string | undefined;
  /** Has downloads land among the session's files again, best effort: a client that told otherwise has left. */
  takeDownloads(): void;
  /** Opens a URL in the first page in the background, best effort. */
  open(url: string): void;
  /** While it runs (windows.ts, browser-parts.ts). */
  resize: Windows["resize"];
  /**
   * Closes the tabs that do not answer within this time (free-tabs.ts); not free when Chromium itself does not. Never
   * rejects.
   */
  freeTabs(answerMs: number): Promise<FreedTabs>;
  wall: Wall | undefined;
  /** Resolves when Chromium, its screen or its DevTools connection ends, with what happened. Never rejects. */
  ended: Promise<string>;
  /**
   * Has Chromium write all that its profile shall have, and end. Resolves with the profile's folder, to which nobody
   * writes any more; rejects when Chromium does not end by itself in time, or by a crash. `stop` removes the folder.
   */
  close(): Promise<string>;
  /** Ends every process in order, and removes the folder. */
  stop(): Promise<void>;
  /**
   * Kills every process. Resolves when none of them runs code any more; `gone` when the kernel has cleared them away.
   * `stop` then has only the folder to remove.
   */
  kill(): Promise<{ gone: Promise<void> }>;
};

type Folders = { folder: string; profileDir: string; temp: string };

const sharedMemoryIsSmall = (): boolean => {
  try {
    const { blocks, bsize } = statfsSync("/dev/shm");
    return blocks * bsize < enoughSharedMemoryBytes;
  } catch {
    return true;
  }
};

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

/**
 * Makes the browser's folder, and that of its session's files. The first is also the temp folder, unless its path is too
 * long for sockets. On this thread: nobody else is served yet, and on a busy machine the way to another one takes longer.
 */
const createFolders = ({ dataDir, filesDir }: AgentConfig, parts: AsyncDisposableStack): Folders => {
  makeFilesDir(filesDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(dataDir, "browser-"));
  parts.defer(() => removeFolder(folder));
  const profileDir = join(folder, "profile");
  mkdirSync(profileDir, { mode: 0o700 });
  if (folder.length <= longestTempDir) return { folder, profileDir, temp: folder };
  const temp = mkdtempSync(join(tmpdir(), "bp-"));
  parts.defer(() => removeFolder(temp));
  return { folder, profileDir, temp };
};

const processEnv = (
  config: AgentConfig,
  { folder, temp }: Pick<Folders, "folder" | "temp">,
  mark: string,
): Record<string, string> => ({
  ...config.inheritedEnv,
  ...(config.browser.location && locationEnv(config.browser.location)),
  [markName]: mark,
  HOME: folder,
  TMPDIR: temp,
  // Without this Chromium looks for a desktop's message bus.
  DBUS_SESSION_BUS_ADDRESS: "disabled:",
});

/** The file with the process groups of the present Chromium and its screen (platform/process/process-groups.ts). */
export const groupsFileOf = ({ dataDir }: AgentConfig): string => join(dataDir, "process-groups");

type StartOptions = {
  prepare: readonly PreparePart[];
  onLine?: ((line: string) => void) | undefined;
  onSpawn?: (() => void) | undefined;
};

/** What needs its DevTools. */
const loadAnswering = () => import("./answering-chromium.ts");

/** Whoever needs the wall waits for it; a Chromium that does not start needs none. */
const startWall = ({ startWall: start }: Pick<BrowserParts, "startWall">): Promise<Wall> | undefined => {
  const wall = start?.();
  wall?.catch(() => undefined);
  return wall;
};

/** Not every system has chrome-headless-shell beside the browser. */
const hasShell = ({ chromium, chromiumHeadless }: AgentConfig["programs"]): boolean => chromium !== chromiumHeadless;

/**
 * Starts Chromium as configured, in a new folder below `dataDir`. `received`: what the operator has sent for it.
 * `prepare`: what features add. `onLine`: takes the lines of its log. `onSpawn`: called when its process runs, long
 * before it answers. A failed or aborted start leaves nothing behind but the record of its process groups.
 */
export const startChromium = async (
  config: AgentConfig,
  received: ReceivedSetup | undefined,
  signal: AbortSignal,
  { prepare, onLine, onSpawn }: StartOptions,
): Promise<Chromium> => {
  await using parts = new AsyncDisposableStack();
  const groupsFile = groupsFileOf(config);
  const { folder, temp, profileDir } = createFolders(config, parts);
  const mark = newMark();
  let killed: Promise<void> | undefined;
  parts.defer(() => killed ?? endMarked(mark, []));
  const env = processEnv(config, { folder, temp }, mark);
  const { headless, stealth, viewport } = config.browser;
  const made = await prepareParts(prepare, { config, received, folder, short: temp, profileDir, signal, stack: parts });

  const screen = headless
    ? undefined
    : await (await import("./virtual-screen.ts")).startVirtualScreen(
        { program: config.programs.xvfb, viewport, folder, env, groupsFile },
        signal,
      );
  if (screen) parts.defer(() => killed ?? screen.process.end(screenGraceMs));

  // The shell is another program than the browser of people, and pages can tell.
  const shell = hasShell(config.programs) && headless && !stealth && !made.needsFullBrowser;
  const excess = temp.length - longestTempDir;
  if (!shell && excess > 0)
    throw new Error(`${temp} is ${excess} characters too long for Chromium's sockets: set TMPDIR to a shorter path`);
  if (!shell) await writeFirstPreferences(profileDir);
  const flags = chromiumFlags(config.browser, {
    profileDir,
    shell,
    sandbox: config.sandbox,
    smallSharedMemory: sharedMemoryIsSmall(),
    parts: made,
  });
  let wall: Promise<Wall> | undefined;
  const chromium = await startGroupProcess(
    {
      name: "Chromium",
      ...made.command(shell ? config.programs.chromiumHeadless : config.programs.chromium, flags, screen?.env.DISPLAY),
      env: { ...(shell ? env : await withoutOtherPrograms(env, folder)), ...screen?.env },
      readyPattern: /DevTools listening on (ws:\/\/127\.0\.0\.1:\d+\/\S+)/,
      readyFd: 2,
      ...(onLine && { onLine }),
      onSpawn() {
        // While it starts, this process has time to load what talks to it.
        void loadAnswering();
        wall = startWall(made);
        onSpawn?.();
      },
      startDeadlineMs,
      groupsFile,
    },
    signal,
  );
  parts.defer(() => killed ?? chromium.end(chromiumGraceMs));

  const sizeFor = (size: typeof viewport) => windowSize({ headless, viewport: size }, shell);
  const { reachChromium } = await loadAnswering();
  const started = { ready: chromium.ready, made, wall, screen, viewport, sizeFor, stack: parts };
  const answering = await reachChromium(started, signal);
  const kept = parts.move();
  let stopped: Promise<void> | undefined;
  return {
    ...answering.chromium,
    ...{ screen, folder, isShell: shell },
    ended: Promise.race([chromium.exited, ...(screen ? [screen.process.exited] : []), answering.closed]),
    async close() {
      answering.askToClose(closeMs);
      const how = await Promise.race([chromium.exited, sleep(closeMs, undefined, { ref: false })]);
      // Processes that write for it end by themselves, a moment after it.
      await chromium.isEmpty(lastWritesMs);
      await chromium.end(0);
      await endMarked(mark, [screen?.process.group ?? 0]);
      if (how === undefined) throw new Error(`Chromium did not close within ${closeMs / 1000} s`);
      if (!chromium.hasSucceeded()) throw new Error(`it did not close in order: ${how}`);
      return profileDir;
    },
    stop() {
      stopped ??= kept.disposeAsync();
      return stopped;
    },
    async kill() {
      killed = chromium.end(0);
      // Not killed: an X server then leaves its lock file behind. It must be gone before its successor makes that file.
      const screenGone = screen?.process.end(screenGraceMs);
      await Promise.all([endMarked(mark, [chromium.group, screen?.process.group ?? 0]), screenGone]);
      made.release();
      return { gone: killed };
    },
  };
};
