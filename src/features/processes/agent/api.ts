/** The output of a process, as its agent streams it: `GET /processes/{id}?session=…`, lines of `ProcessOutput`. */
import { z } from "zod";
import { maxSessionId } from "../../../core/protocol/agent-api.ts";

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

/** The query of the call. */
export const OutputQuery = z.object({ session: z.string().min(1).max(maxSessionId) });

/** The call's path with its query. */
export const outputPath = ({ session, id }: { session: string; id: string }): string =>
  `/processes/${encodeURIComponent(id)}?${new URLSearchParams({ session })}`;
