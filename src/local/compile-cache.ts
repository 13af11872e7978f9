import { execFile } from "node:child_process";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** A slow machine with empty caches takes some seconds, ms. */
const compileMs = 60_000;

/** Node writes files that their owner alone may read, and each pod has a user of its own. */
const letAllRead = async (folder: string): Promise<void> => {
  for (const { name, parentPath } of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(parentPath, name), 0o755);
};

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
  await promisify(execFile)(node, [...rest, "agent", "--compile"], {
    env: { NODE_COMPILE_CACHE: folder },
    timeout: compileMs,
    signal,
  });
  await letAllRead(folder);
};
