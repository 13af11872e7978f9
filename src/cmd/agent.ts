import type { AgentConfig } from "../agent/agent-config.ts";
import { startAgentServer } from "../agent/agent-server.ts";
import { type Browser, startBrowser } from "../agent/browser.ts";
import { createLeaseKeeper } from "../agent/lease-keeper.ts";
import type { Termination } from "../agent/protocol.ts";
import { writeTermination } from "../agent/write-termination.ts";
import type { Logger } from "../log.ts";
import { createAgentTokenVerifier } from "../tokens/agent-token.ts";

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const stopped: Termination = { reason: "stopped", message: "the agent was told to stop" };

/** Serves the browser until it ends, is idle for too long, or `signal` aborts. All connections are cut when it returns. */
const serve = async (config: AgentConfig, browser: Browser, signal: AbortSignal, log: Logger): Promise<Termination> => {
  const idle = Promise.withResolvers<void>();
  const leases = createLeaseKeeper({ podUid: config.podUid, browser, onIdle: idle.resolve, log });
  const server = await startAgentServer({
    address: config.address,
    port: config.port,
    verify: createAgentTokenVerifier(config.publicKey, config.podUid),
    leases,
    browser,
    log,
  });
  log.info({ port: server.port, headless: config.browser.headless }, "browser ready");
  if (config.browser.start_url) browser.open(config.browser.start_url);
  const end = await Promise.race([
    browser.ended.then((how): Termination => ({ reason: "browser_crashed", message: how })),
    idle.promise.then(
      (): Termination => ({ reason: "timeout", message: "no connection for the lease's idle timeout" }),
    ),
    whenAborted(signal).then(() => stopped),
  ]);
  server.close();
  leases.close();
  return end;
};

const run = async (config: AgentConfig, signal: AbortSignal, log: Logger): Promise<Termination> => {
  await using parts = new AsyncDisposableStack();
  let end: Termination | undefined;
  try {
    const browser = await startBrowser(config, signal);
    parts.defer(() =>
      browser
        .stop(end?.reason === "browser_crashed")
        .catch((error: unknown) => log.warn({ err: error }, "the browser left something behind")),
    );
    end = await serve(config, browser, signal, log);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    end = signal.aborted ? stopped : { reason: "start_failed", message };
  }
  log[end.reason === "start_failed" ? "error" : "info"](end, "agent ends");
  await writeTermination(config.terminationLog, end, log);
  return end;
};

/**
 * Runs one browser for its whole life and returns the process's exit code: 0 when it was stopped by `signal` or ended
 * by its idle timeout, 1 when it could not start or crashed. Why is in the termination file. Never rejects because of
 * the browser; no process, socket or folder of it is left.
 */
export const runAgent = async (config: AgentConfig, signal: AbortSignal, log: Logger): Promise<number> => {
  const { reason } = await run(config, signal, log);
  return reason === "stopped" || reason === "timeout" ? 0 : 1;
};
