/** What a holder changes in its browser, until the next reset. No start needs it, so it is loaded beside Chromium's. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AgentConfig } from "./agent-config.ts";
import type { ChangeArchives, ChangeOutcome } from "./browser.ts";
import { type AgentParts, type RunningChromium, startDeadlineMs } from "./running-chromium.ts";
import { SetupRefused } from "./setup-refused.ts";
import {
  addedExtensions,
  hasOtherProfile,
  needsStart,
  type StartSettings,
  settingsAfter,
  type WantedChange,
} from "./start-settings.ts";

/** Whether the profile of a change can be loaded: tried while the present Chromium still runs. */
const canLoad = async (
  { received }: StartSettings,
  { config: { dataDir }, parts }: { config: AgentConfig; parts: AgentParts },
  signal: AbortSignal,
): Promise<boolean> => {
  const ref = received?.setup.profile;
  if (!received || !ref) return true;
  const folder = await mkdtemp(join(dataDir, "try-"));
  try {
    await parts.loadProfile(received.archive(ref), { ref, profileDir: folder }, signal);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

type Changing = { stop: AbortSignal; onStart: () => void };

type ChangesDeps = {
  config: AgentConfig;
  base: StartSettings;
  running: RunningChromium;
  holderDirs: string[];
  parts: AgentParts;
  signal: AbortSignal;
};

/**
 * The changes of a browser that was made with `base`. `holderDirs`: what a new start for the same holder needs.
 * `endBecause`: called when it does not come back.
 */
export const createChanges = (
  { config, base, running, holderDirs, parts, signal }: ChangesDeps,
  endBecause: (error: unknown) => void,
) => {
  let now = base;
  let isStarting = false;

  const startAnew = async (made: StartSettings, stop: AbortSignal): Promise<"changed" | "browser_unhealthy"> => {
    try {
      await running.startAnew(made, stop, holderDirs);
      return "changed";
    } catch (error) {
      if (error instanceof SetupRefused && made !== now) throw error;
      if (!stop.aborted) endBecause(error);
      return "browser_unhealthy";
    }
  };

  const startChanged = async (made: StartSettings, { stop, onStart }: Changing): Promise<ChangeOutcome> => {
    if (signal.aborted) return "stopping";
    const inTime = AbortSignal.any([signal, stop, AbortSignal.timeout(startDeadlineMs)]);
    if (!(await canLoad(made, { config, parts }, inTime)))
      return stop.aborted ? "browser_unhealthy" : "profile_refused";
    onStart();
    isStarting = true;
    try {
      return await startAnew(made, stop);
    } catch (error) {
      // Its holder goes on with what it had before.
      if ((await startAnew(now, stop)) === "changed") throw error;
      return "browser_unhealthy";
    } finally {
      isStarting = false;
    }
  };

  /** Without a new start. What can be refused comes first. */
  const changeRunning = async (after: StartSettings, stop: AbortSignal): Promise<ChangeOutcome> => {
    const { received, viewport } = after;
    const extensions = addedExtensions(now, after);
    if (received && extensions.length > 0)
      await parts.addExtensions(extensions, { ...running.present(), archive: received.archive }, stop);
    const rules = received?.setup.network;
    const former = now.received?.setup.network;
    const isNew = !isDeepStrictEqual(rules, former);
    const keepsAllowed = isDeepStrictEqual({ ...rules, allowed_hosts: [] }, { ...former, allowed_hosts: [] });
    const use = rules && isNew ? running.present().wall?.prepare(rules, { keepsAllowed }) : undefined;
    if (!isDeepStrictEqual(viewport, now.viewport)) {
      const outcome = await running.present().resize(viewport, stop);
      if (outcome !== "resized") return outcome;
    }
    use?.();
    return "changed";
  };

  return {
    isStarting: () => isStarting,
    forget() {
      now = base;
    },
    async carryOut(wanted: WantedChange, archives: ChangeArchives, changing: Changing): Promise<ChangeOutcome> {
      if (hasOtherProfile(now, wanted)) return "profile_loaded";
      const after = settingsAfter(now, wanted, archives);
      const present = { startedWith: running.startedWith(), isShell: running.present().isShell };
      const outcome = needsStart(now, after, present)
        ? await startChanged(after, changing)
        : await changeRunning(after, changing.stop);
      if (outcome === "changed") now = after;
      return outcome;
    },
  };
};
