import { z } from "zod";

/** One line of a session's log. */
export const LogEvent = z.object({
  event: z.literal("log"),
  message: z.string().describe("The line: 2000 characters at most, without control characters."),
  timestamp: z.iso.datetime().describe("When the browser's agent got the line."),
});
export type LogEvent = z.infer<typeof LogEvent>;

/** The query of a stream of a session's log. */
export const LogStreamQuery = z.object({
  source: z.enum(["path", "supervisor"]).describe("By what name the log is asked for."),
  path: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("With source=path: /var/log/chromium.log or /var/log/agent.log. These are names, not files."),
  supervisor_process: z.string().min(1).max(255).optional().describe("With source=supervisor: chromium or agent."),
  follow: z.enum(["true", "false"]).optional().describe("Also send the lines that come, until the session ends."),
});
export type LogStreamQuery = z.infer<typeof LogStreamQuery>;
