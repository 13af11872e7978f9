/** The npm package's `browserpool <command>`: argv → command. Only this file ends the process. */
import manifest from "../../package.json" with { type: "json" };
import { createClientProgram } from "./client-program.ts";
import { runProgram } from "./run-program.ts";
import { terminal } from "./terminal.ts";

process.on("unhandledRejection", (reason) => {
  terminal.complain(`unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`);
  process.exit(1);
});

process.exit(
  await runProgram(createClientProgram(terminal, manifest.version), process.argv.slice(2), terminal.complain),
);
