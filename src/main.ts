/** `browserpool <command>`: argv → command. Only this file ends the process. The agent handles signals itself. */
import { fileURLToPath } from "node:url";
import { complain } from "./cli/complain.ts";

/** Runs beside each Chromium, so it loads no more than it needs: not the other commands either. */
const agent = async (): Promise<number> => (await import("./cmd/agent-process.ts")).runAgentProcess();

/** For whoever makes an image, or a place, for agents. */
const compile = async (): Promise<number> => {
  await (await import("./cmd/compile-agent.ts")).compileAgent();
  return 0;
};

const command = async (argv: string[]): Promise<number> => {
  const { createProgram } = await import("./cli/program.ts");
  const { runProgram } = await import("./cli/run-program.ts");
  const { terminal } = await import("./cli/terminal.ts");
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  const program = createProgram(terminal, { main: fileURLToPath(import.meta.url), version: manifest.version });
  return runProgram(program, argv, complain);
};

process.on("unhandledRejection", (reason) => {
  complain(`unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`);
  process.exit(1);
});

const argv = process.argv.slice(2);
const own = new Map([
  ["agent", agent],
  ["agent --compile", compile],
]);
process.exit(await (own.get(argv.join(" "))?.() ?? command(argv)));
