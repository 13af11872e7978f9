/** The agent as a program: what `src/main.ts agent` does. Its arguments are for people who look at processes. */
import { runAgentProcess } from "../../src/cmd/agent-process.ts";

process.exit(await runAgentProcess());
