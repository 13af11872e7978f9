/** `browserpool <command>`: argv → command. Only this file ends the process. The agent handles signals itself. */
import { fileURLToPath } from "node:url";
import { complain } from "./cli/complain.ts";

/** Runs beside each Chromium, so it loads no more than it needs: not the other commands either. */
const agent = async (): Promise<number> => {
  const { readAgentConfig } = await import("./core/agent/agent-config.ts");
  const { runAgent } = await import("./cmd/agent.ts");
  const { createAgentLogs } = await import("./cmd/serve-browser.ts");
  const { listenForStop } = await import("./cmd/stop-signals.ts");
  const { environment, forgetVariable } = await import("./platform/base/environment.ts");
  const logs = createAgentLogs(environment.BROWSERPOOL_LOG_LEVEL ?? "info");
  const config = readAgentConfig(environment);
  forgetVariable("BROWSERPOOL_AGENT_KEY");
  return runAgent(config, listenForStop(), logs);
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
process.exit(argv.length === 1 && argv[0] === "agent" ? await agent() : await command(argv));
