/** The agent as a program: what `src/main.ts agent` does, without the other commands. */
import { readAgentConfig } from "../../src/agent/agent-config.ts";
import { runAgent } from "../../src/cmd/agent.ts";
import { listenForStop } from "../../src/cmd/stop-signals.ts";
import { createLogger } from "../../src/log.ts";

const log = createLogger(process.env.LOG_LEVEL ?? "info", "agent");
process.exit(await runAgent(readAgentConfig(process.env), listenForStop(), log));
