import type { AgentConfig } from "../core/agent/agent-config.ts";
import { startBrowser } from "../core/agent/browser.ts";
import { writeTermination } from "../core/agent/write-termination.ts";
import type { Termination } from "../core/protocol/agent-api.ts";
import { SetupRefused } from "../features/extensions/agent/load-extensions.ts";
import { leaseOver, stopped } from "./agent-ends.ts";
import type { AgentLogs } from "./agent-logs.ts";
import { agentParts } from "./agent-parts.ts";
import type { StopSignals } from "./stop-signals.ts";

const run = async (config: AgentConfig, signals: StopSignals, { logs, log }: AgentLogs): Promise<Termination> => {
  await using parts = new AsyncDisposableStack();
  let end: Termination | undefined;
  try {
    const received = config.browser.awaits_setup
      ? await (await import("./wait-for-setup.ts")).waitForSetup(config, signals.asked, log)
      : undefined;
    const load = () => import("./serve-browser.ts");
    const browser = await startBrowser(config, received, signals.asked, { parts: agentParts, logs, onSpawn: load });
    parts.defer(() =>
      browser
        .stop(end?.reason === "browser_crashed" || end?.reason === "reset_failed")
        .catch((error: unknown) => log.warn({ err: error }, "the browser left something behind")),
    );
    const { serveBrowser } = await load();
    end = await serveBrowser({ config, received, signals, logs, log }, browser);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SetupRefused ? "setup_refused" : "start_failed";
    end = signals.asked.aborted ? stopped : { reason, message };
  }
  log[end.reason === "start_failed" ? "error" : "info"](end, "agent ends");
  await writeTermination(config.terminationLog, end, log);
  return end;
};

/**
 * Runs one browser for its whole life and returns the process's exit code: 0 when it was told to stop or its lease ended by itself,
 * 1 when it could not start or crashed. The termination file has the reason. Never rejects because of the browser, and leaves no
 * process, socket or folder of it.
 */
export const runAgent = async (config: AgentConfig, signals: StopSignals, said: AgentLogs): Promise<number> => {
  const { reason } = await run(config, signals, said);
  return reason === "stopped" || reason in leaseOver ? 0 : 1;
};
