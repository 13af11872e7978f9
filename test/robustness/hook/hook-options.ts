import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";

/** The variable by which a process learns what its hook is to do; JSON of `HookOptions`. */
export const hookVariable = "BROWSERPOOL_TEST_HOOK";

export const HookOptions = z.object({
  /** The Lua scripts record what they change. */
  record: z.boolean().default(false),
  /** Name of a seeded bug (bugs/). */
  bug: z.string().optional(),
});

/**
 * How a process of the product is started with the hook: `args` stand before its script; `env` is added to its own.
 * Give it an `ipc` channel too (`stdio: [..., "ipc"]`), over which hook-client.ts talks to it.
 */
export const hookArguments = (
  options: z.input<typeof HookOptions>,
): { args: string[]; env: Record<string, string> } => ({
  args: ["--import", pathToFileURL(join(import.meta.dirname, "register.ts")).href],
  env: { [hookVariable]: JSON.stringify(HookOptions.parse(options)) },
});
