/** The agent as a program: what `src/main.ts agent` does, without the other commands. */
import { readAgentConfig } from "../../src/agent/agent-config.ts";
import { createAgentLogs, runAgent } from "../../src/cmd/agent.ts";
import { listenForStop } from "../../src/cmd/stop-signals.ts";

const logs = createAgentLogs(process.env.LOG_LEVEL ?? "info");
process.exit(await runAgent(readAgentConfig(process.env), listenForStop(), logs));
