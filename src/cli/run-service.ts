import { readConfig } from "../core/config/config.ts";
import { createLogger } from "../platform/base/log.ts";

const whenAborted = async (signal: AbortSignal): Promise<void> => {
  const aborted = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => aborted.resolve(), { once: true });
  if (!signal.aborted) await aborted.promise;
};

/** Runs the API or the operator until `signal` is aborted. */
export const runService = async (name: "api" | "operator", signal: AbortSignal): Promise<void> => {
  const config = readConfig();
  const log = createLogger(config.logLevel, name);
  const start =
    name === "api" ? (await import("../cmd/api.ts")).startApi : (await import("../cmd/operator.ts")).startOperator;
  const running = await start({ config, signal }, log).catch((error: unknown) => {
    // A stop before the start has finished is no error.
    if (!signal.aborted) throw error;
  });
  await whenAborted(signal);
  await running?.stop();
};
