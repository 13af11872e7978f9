import { writeFile } from "node:fs/promises";
import type { AgentConfig } from "../core/agent/agent-config.ts";
import { leaseOver, stopped } from "../core/agent/agent-ends.ts";
import type { GivenBrowser } from "../core/agent/blank-browser.ts";
import { type Browser, startBrowser } from "../core/agent/browser.ts";
import type { ReceivedSetup } from "../core/agent/receive-setup.ts";
import type { AgentParts, ChromiumLogs } from "../core/agent/running-chromium.ts";
import { SetupRefused } from "../core/agent/setup-refused.ts";
import type { AgentStartStep, StepTimes } from "../core/agent/step-times.ts";
import type { Termination } from "../core/protocol/agent-api.ts";
import { extensionPart } from "../features/extensions/agent/start-part.ts";
import { networkPart } from "../features/network/agent/start-part.ts";
import { profilePart } from "../features/profiles/agent/start-part.ts";
import type { Logger } from "../platform/base/log.ts";
import type { AgentLogs } from "./serve-browser.ts";
import type { StopSignals } from "./stop-signals.ts";

// The features that add to each start of Chromium.

/** In this order. */
export const agentParts: AgentParts = {
  prepare: [profilePart, extensionPart, networkPart],
  async loadProfile(file, place, signal) {
    const { loadProfile } = await import("../features/profiles/agent/load-profile.ts");
    await loadProfile(file, place, signal);
  },
  async addExtensions(extensions, place, signal) {
    const { addExtensions } = await import("../features/extensions/agent/add-extensions.ts");
    await addExtensions(extensions, place, signal);
  },
};

const maxMessageChars = 500;
/** The beginning of a long message says what failed; its end, the last lines of a program's stderr, says why. */
const keptFromStart = 150;

const shorten = (message: string): string => {
  if (message.length <= maxMessageChars) return message;
  const separator = " […] ";
  const keptFromEnd = maxMessageChars - keptFromStart - separator.length;
  return message.slice(0, keptFromStart) + separator + message.slice(-keptFromEnd);
};

/**
 * Writes why the agent ends. Writes in place, because in a pod the file is a mount. A failure is logged and not fatal.
 */
export const writeTermination = async (file: string, { reason, message }: Termination, log: Logger): Promise<void> => {
  const termination: Termination = { reason, message: shorten(message) };
  try {
    await writeFile(file, JSON.stringify(termination));
  } catch (error) {
    log.warn({ err: error }, "the termination message could not be written");
  }
};

/** `level`: of its logger. `times`: of its start. */
type AgentNotes = { level: string; times: StepTimes<AgentStartStep> };

/** Most code of an agent, which is loaded while Chromium starts. */
const loadServing = () => import("./serve-browser.ts");

/** What a start loads beside Chromium. An agent that waits for its setup has the time before. */
const loadAhead = (): Promise<unknown> =>
  Promise.all([import("../core/agent/answering-chromium.ts"), import("../core/agent/browser-changes.ts")]);

/** Takes Chromium's lines before there are logs to take them, for some tenths of a second. */
const createEarlyLogs = (): ChromiumLogs & { moveTo(logs: ChromiumLogs): void } => {
  const early: string[] = [];
  let take = (line: string): unknown => early.push(line);
  let present: ChromiumLogs | undefined;
  return {
    startChromium: () => present?.startChromium() ?? ((line) => void take(line)),
    moveTo(logs) {
      present = logs;
      take = logs.startChromium();
      for (const line of early.splice(0)) take(line);
    },
  };
};

/** Starts the browser, and loads meanwhile what serves it. Rejects for settings that are none of a browser, too. */
const startConfigured = async (
  config: AgentConfig,
  received: ReceivedSetup | undefined,
  signal: AbortSignal,
  { says, times }: Pick<AgentNotes, "times"> & { says: () => Promise<AgentLogs> },
): Promise<Browser> => {
  const check = async (): Promise<void> =>
    (await import("../core/agent/check-browser-config.ts")).checkBrowserConfig(config);
  const logs = createEarlyLogs();
  const onSpawn = (): void => {
    times.ended("spawned");
    void says().then((said) => logs.moveTo(said.logs));
  };
  const browser = await startBrowser(config, received, signal, { parts: agentParts, logs, onSpawn }).catch(
    async (error: unknown) => {
      await check();
      throw error;
    },
  );
  await check().catch(async (error: unknown) => {
    await browser.stop(true);
    throw error;
  });
  return browser;
};

/** What the browser is started with. `given`: by the holder of a blank one. */
type Wanted = Pick<GivenBrowser, "config" | "received"> & { given?: GivenBrowser };

/** Resolves when all of it is here, or with the reason when the agent ends before. */
const whatIsWanted = async (
  config: AgentConfig,
  signals: StopSignals,
  says: () => Promise<AgentLogs>,
): Promise<Wanted | { end: Termination }> => {
  const { blank, awaits_setup } = config.browser;
  if (!blank && !awaits_setup) return { config, received: undefined };
  void loadAhead();
  const { log } = await says();
  const waiting = await import("./wait-for-setup.ts");
  if (!blank) return { config, received: await waiting.waitForSetup(config, signals.asked, log) };
  const held = await waiting.waitForHolder(config, signals.asked, log);
  return "over" in held ? { end: held.over } : { ...held.given, given: held.given };
};

const run = async (asked: AgentConfig, signals: StopSignals, { level, times }: AgentNotes): Promise<Termination> => {
  await using parts = new AsyncDisposableStack();
  let end: Termination | undefined;
  let given: GivenBrowser | undefined;
  let said: Promise<AgentLogs> | undefined;
  const says = (): Promise<AgentLogs> => {
    said ??= loadServing().then(({ createAgentLogs }) => createAgentLogs(level));
    return said;
  };
  const finish = async (why: Termination): Promise<Termination> => {
    const { log } = await says();
    log[why.reason === "start_failed" ? "error" : "info"](why, "agent ends");
    await writeTermination(asked.terminationLog, why, log);
    return why;
  };
  try {
    const wanted = await whatIsWanted(asked, signals, says);
    if ("end" in wanted) return await finish(wanted.end);
    const { config, received } = wanted;
    given = wanted.given;
    if (received || given) times.ended("setup");
    const browser = await startConfigured(config, received, signals.asked, { says, times });
    times.ended("answered");
    const { log, logs } = await says();
    parts.defer(() =>
      browser
        .stop(end?.reason === "browser_crashed" || end?.reason === "reset_failed")
        .catch((error: unknown) => log.warn({ err: error }, "the browser left something behind")),
    );
    const { serveBrowser } = await loadServing();
    end = await serveBrowser({ config, received, given, signals, logs, log, times }, browser);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SetupRefused ? "setup_refused" : "start_failed";
    end = signals.asked.aborted ? stopped : { reason, message };
    await given?.answer(false);
  }
  return finish(end);
};

/**
 * Runs one browser for its whole life and returns the process's exit code: 0 when it was told to stop or its lease
 * ended by itself, 1 when it could not start or crashed. The termination file has the reason. Never rejects because of
 * the browser, and leaves no process, socket or folder of it.
 */
export const runAgent = async (config: AgentConfig, signals: StopSignals, notes: AgentNotes): Promise<number> => {
  const { reason } = await run(config, signals, notes);
  return reason === "stopped" || reason in leaseOver ? 0 : 1;
};
