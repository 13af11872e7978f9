import { createLeaseLogs, type LeaseLogs } from "../features/logs/agent/lease-logs.ts";
import { createLogger, type Logger } from "../platform/base/log.ts";

/** What an agent says: `log` is its logger, whose lines `logs` gets too, for the holder. */
export type AgentLogs = { logs: LeaseLogs; log: Logger };

/** `level`: of the agent's logger. */
export const createAgentLogs = (level: string): AgentLogs => {
  const logs = createLeaseLogs();
  return { logs, log: createLogger(level, "agent", undefined, logs.noteAgent) };
};
