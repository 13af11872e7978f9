/** The agent as a program: what `src/main.ts agent` does, without the other commands. */

import { runAgent } from "../../src/cmd/agent.ts";
import { createAgentLogs } from "../../src/cmd/serve-browser.ts";
import { listenForStop } from "../../src/cmd/stop-signals.ts";
import { readAgentConfig } from "../../src/core/agent/agent-config.ts";

const logs = createAgentLogs(process.env.LOG_LEVEL ?? "info");
process.exit(await runAgent(readAgentConfig(process.env), listenForStop(), logs));
