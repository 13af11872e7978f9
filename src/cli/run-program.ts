import { type Command, CommanderError } from "commander";
import { CommandError } from "./service.ts";

/** Exit code of a command line that is not understood. */
const usage = 2;

/** Runs the command of `argv`, and returns the exit code of the process. `complain`: told why it failed. */
export const runProgram = async (
  program: Command,
  argv: readonly string[],
  complain: (text: string) => void,
): Promise<number> => {
  try {
    await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Its message has been printed.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usage;
    complain(error instanceof Error ? error.message : String(error));
    return error instanceof CommandError ? error.exitCode : 1;
  }
};
