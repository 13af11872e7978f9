/** The output of a process, as its agent streams it (core/protocol/session-stream.ts): lines of `ProcessOutput`. */
import { z } from "zod";

/** A piece of what it wrote, or its end. */
export const ProcessOutput = z.union([
  z.object({
    stream: z.enum(["stdout", "stderr"]),
    data_b64: z.base64(),
    lost_bytes: z.int().min(1).optional().describe("What was written before and is not kept any more."),
  }),
  z.object({ event: z.literal("exit"), exit_code: z.int() }),
]);
export type ProcessOutput = z.infer<typeof ProcessOutput>;
