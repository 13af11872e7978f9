/**
 * The agent's browser: one Chromium after another, all made with the same configuration but for what a holder changes
 * in it.
 *
 *        ┌── change ──► changing ──┐
 *        │                         ▼
 *   up ──┴── reset ───► resetting ──► up
 *    │                      │
 *    │ Chromium ends        │ Chromium does not come back
 *    ▼                      ▼
 *   ended ◄─────────────────┘
 *
 * up         Chromium answers DevTools.
 * changing   what its holder asked for takes hold. Some changes need another Chromium, for the same holder.
 * resetting  the old Chromium is killed with its whole process group, what it has written is moved out of the way, and a new
 *            one starts in a new folder, without the holder's changes. Nobody may use the browser in this state. It breaks off a change.
 * ended      for good: the agent ends with the reason, and the operator replaces the pod.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Termination } from "../protocol/agent-api.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import type { DevToolsPlace } from "./connect-dev-tools.ts";
import { clearFiles, dropFiles } from "./files-dir.ts";
import type { FreedTabs } from "./free-tabs.ts";
import type { PageOrder } from "./page-order.ts";
import type { ReceivedSetup } from "./receive-setup.ts";
import { type AgentParts, type ChromiumLogs, runChromium } from "./running-chromium.ts";
import type { StartSettings, WantedChange } from "./start-settings.ts";
import type { VirtualScreen } from "./virtual-screen.ts";
import type { ResizeOutcome } from "./windows.ts";

/** `changed`: all of it holds. After any other outcome the browser is as before, or ends. */
export type ChangeOutcome =
  | "changed"
  | Exclude<ResizeOutcome, "resized">
  | "profile_loaded"
  | "profile_refused"
  | "browser_unhealthy"
  | "stopping";

export type Browser = {
  /** Of the present Chromium: each new start gives another place. */
  devTools(): DevToolsPlace;
  /** Of the present Chromium, too. */
  pageOrder(): PageOrder;
  /** The screen of a headful one. */
  screen(): Pick<VirtualScreen, "connect"> | undefined;
  folder(): string;
  /** Where the browser reached this host; undefined when Chromium tells it, or nobody knows (agent/start-wall.ts). */
  addressOf(host: string): string | undefined;
  /** Whether Chromium sees its proxy's address in place of a site's. */
  hasWall(): boolean;
  /** Makes one CDP round trip; false when Chromium does not answer within 2 s, and while a new one starts. */
  isHealthy(): Promise<boolean>;
  /** Of the present Chromium; undefined before its first health check. */
  version(): string | undefined;
  /** As that of the present Chromium. */
  takeDownloads(): void;
  /** Opens a URL in the first page in the background, best effort. */
  open(url: string): void;
  /**
   * Changes the browser until its next reset. `archives`: the change's. `onStart`: called before Chromium is
   * killed because a new one must start. One call at a time, and none during a reset. Rejects when nothing has changed
   * because something failed; by `SetupRefused` when Chromium does not take an extension.
   */
  change(wanted: WantedChange, archives: ChangeArchives, onStart: () => void): Promise<ChangeOutcome>;
  /** Removes the files of the session. Never rejects; false: something stays. */
  clearFiles(): Promise<boolean>;
  /** As that of the present Chromium. */
  freeTabs(answerMs: number): Promise<FreedTabs>;
  /**
   * Makes the browser anew, with nothing of the present one. Resolves when it is up, or has ended instead. Never
   * rejects.
   */
  reset(): Promise<void>;
  /**
   * Ends the present Chromium so that its profile is complete (`Chromium.close`). Nothing but `stop` may be called
   * after it.
   */
  close(): Promise<string>;
  /** Resolves with why the browser ended by itself. Never rejects. */
  ended: Promise<Termination>;
  /** Ends every process and removes the browser's folder. `atOnce`: kills Chromium, which then saves nothing. */
  stop(atOnce: boolean): Promise<void>;
};

/** The archives of a change, which stay until the next reset. */
export type ChangeArchives = Pick<ArchiveFolder, "has" | "file">;

/** The folder of the archives that a holder's change has. */
export const changeArchivesDir = ({ dataDir }: AgentConfig): string => join(dataDir, "archives-of-change");

/** The folder of the extensions that a holder has loaded. */
export const holderExtensionsDir = ({ dataDir }: Pick<AgentConfig, "dataDir">): string =>
  join(dataDir, "extensions-of-holder");

/** What a new start for the same holder needs, and a reset removes. */
const holderDirs = (config: AgentConfig): string[] => [changeArchivesDir(config), holderExtensionsDir(config)];

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const loadChanges = () => import("./browser-changes.ts");

type StartBrowserOptions = {
  /** Gets Chromium's lines. */
  logs?: ChromiumLogs;
  parts: AgentParts;
  /** Called when the first Chromium has begun to start: time for other work. */
  onSpawn?: () => void;
};

/** Starts the configured browser and opens its `start_url`. `signal` aborts this start and every later one. */
export const startBrowser = async (
  config: AgentConfig,
  received: ReceivedSetup | undefined,
  signal: AbortSignal,
  options: StartBrowserOptions,
): Promise<Browser> => {
  const ended = Promise.withResolvers<Termination>();
  const endBecause = (error: unknown): void =>
    ended.resolve({ reason: "reset_failed", message: `the browser did not come back: ${messageOf(error)}` });
  const base: StartSettings = { viewport: config.browser.viewport, location: config.browser.location, received };
  const onSpawn = (): void => {
    void loadChanges();
    options.onSpawn?.();
  };
  const running = await runChromium(config, base, signal, { ...options, onSpawn }).catch(async (error: unknown) => {
    await dropFiles(config);
    throw error;
  });
  void running.crashed.then((how) => ended.resolve({ reason: "browser_crashed", message: how }));
  const { createChanges } = await loadChanges();
  const { parts } = options;
  const changes = createChanges({ config, base, running, holderDirs: holderDirs(config), parts, signal }, endBecause);
  let resetting: Promise<void> | undefined;
  let changing: { stop: AbortController; over: Promise<unknown> } | undefined;

  const openStartUrl = (): void => {
    if (config.browser.start_url) running.present().open(config.browser.start_url);
  };
  openStartUrl();
  const forgetArchives = async (): Promise<void> => {
    for (const folder of holderDirs(config)) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  const resetNow = async (): Promise<void> => {
    changing?.stop.abort();
    await changing?.over;
    changes.forget();
    try {
      await forgetArchives();
      await running.startAnew(base, signal);
      openStartUrl();
    } catch (error) {
      endBecause(error);
    }
  };

  return {
    devTools: () => running.present().devTools,
    pageOrder: () => running.present().pageOrder,
    screen: () => running.present().screen,
    folder: () => running.present().folder,
    addressOf: (host) => running.present().wall?.addressOf(host),
    hasWall: () => running.present().wall !== undefined,
    version: () => running.present().version(),
    isHealthy: async () => !resetting && !changes.isStarting() && (await running.present().isHealthy()),
    takeDownloads: () => running.present().takeDownloads(),
    open: (url) => running.present().open(url),
    clearFiles: () =>
      clearFiles(config).then(
        () => true,
        () => false,
      ),
    freeTabs: (answerMs) => running.present().freeTabs(answerMs),
    async change(wanted, archives, onStart) {
      const stop = new AbortController();
      const work = changes.carryOut(wanted, archives, { stop: stop.signal, onStart });
      changing = { stop, over: work.catch(() => undefined) };
      try {
        return await work;
      } finally {
        changing = undefined;
      }
    },
    reset() {
      resetting ??= resetNow().finally(() => {
        resetting = undefined;
      });
      return resetting;
    },
    ended: ended.promise,
    async close() {
      await resetting;
      await changing?.over;
      return running.present().close();
    },
    async stop(atOnce) {
      await resetting;
      await changing?.over;
      await running.stop(atOnce);
      await dropFiles(config);
      await forgetArchives();
    },
  };
};
