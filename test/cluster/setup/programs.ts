import { createToolRunner } from "../../../scripts/setup/run-tool.mjs";
import { SetupError } from "../../../scripts/setup/setup-error.mjs";
import type { Run, Variables } from "../lane.ts";

/** Programs with this environment; they end when `signal` fires. Their output goes to `logFile`. */
export const programRunner = (env: Variables, { logFile, signal }: { logFile: string; signal: AbortSignal }): Run => {
  const run = createToolRunner({ logFile, signal });
  return async (command, ...args) => {
    try {
      return await run({ command, args, env, wayOut: "" });
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      throw new Error([error.message, ...error.logTail].join("\n"), { cause: error });
    }
  };
};

/** The variables that a program prints as lines of `export NAME=value`, with `$NAME` in them replaced from `env`. */
export const exportsOf = (text: string, env: Variables): Variables =>
  Object.fromEntries(
    [...text.matchAll(/^export (\w+)=(\S+)/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/\$(\w+)/g, (_, other: string) => env[other] ?? ""),
    ]),
  );
