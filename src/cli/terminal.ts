import { environment } from "../platform/base/environment.ts";
import type { Terminal } from "./client-program.ts";
import { complain } from "./complain.ts";

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Aborted by the first SIGINT or SIGTERM; the second one ends the process at once. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  return stop.signal;
};

/** That of this process. */
export const terminal: Terminal = { env: environment, print, complain, signal: stopSignal };
