import { z } from "zod";

/** A line of a log as its stream has it. */
export const LogEvent = z.object({
  event: z.literal("log"),
  message: z.string().describe("The line: 2000 characters at most, without control characters."),
  timestamp: z.iso.datetime().describe("When the browser's agent got the line."),
});
export type LogEvent = z.infer<typeof LogEvent>;
