import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

/** A slow machine with empty caches takes some seconds, ms. */
const compileMs = 60_000;

/**
 * Writes what Node has compiled of the agent to `folder`, for agents that may only read it. Does next to nothing where
 * it is there. `agentCommand`: Node, its options, which compiled code depends on, and main.ts.
 */
export const compileAgent = async (
  agentCommand: readonly [node: string, ...rest: string[]],
  folder: string,
  signal: AbortSignal,
): Promise<void> => {
  const [node, ...rest] = agentCommand;
  const [options, main] = [rest.slice(0, -1), rest.at(-1) ?? ""];
  const agent = pathToFileURL(join(dirname(main), "cmd/agent.ts")).href;
  const program = `await import(${JSON.stringify(agent)})`;
  await promisify(execFile)(node, [...options, "--input-type=module", "--eval", program], {
    env: { NODE_COMPILE_CACHE: folder },
    timeout: compileMs,
    signal,
  });
};
