/** The lines of the audit stream (AUDIT-1). The tables of docs/audit.md are made from these schemas. */
import { z } from "zod";

const stream = z.literal("audit").describe("Always `audit`: tells these lines from lines of the log.");
const time = z.iso.datetime().describe("When the call was answered.");
const replica = z.string().describe("The API replica that served the call.");
const keyId = z.string().nullable().describe("Id of the API key; null: none, or an unknown one.");

/** A call without its stream, time and replica. */
export const AuditedCall = z.strictObject({
  request_id: z.string().describe("The call's `X-Request-Id`, which its log lines have too."),
  address: z.string().describe("The address that the call came from."),
  key_id: keyId,
  project: z.string().nullable().describe("Id of the project; null: none, or not known when the call was refused."),
  verb: z
    .string()
    .describe(
      "The `operationId` of the route; `connectCdp`, `connectWebDriver` and `connectLiveView` for a session's sockets, `openLiveView` for the page of a live view, `viewReplay` for a video by its URL; `openLogin`, `readLogin` and `submitLogin` for the hosted login; `none` when no route has this path.",
    ),
  object: z
    .string()
    .describe(
      "The object by its path, e.g. `/browser_pools/checkout`. While it is not sure that there is such an object, only the form of the path: `/browser_pools/{id_or_name}`.",
    ),
  method: z.string().optional().describe("The HTTP method."),
  route: z.string().optional().describe("The form of the path, where `object` names objects."),
  object_id: z.string().optional().describe("Id of the object in the answer: of what was made, changed or handed out."),
  session: z.string().optional().describe("The session that was handed out, given back, changed or filled."),
  result: z
    .enum(["done", "repeated", "refused", "failed"])
    .describe(
      "`done`; `repeated`: the idempotent answer of an earlier call, and nothing was done; `refused`: 401, 403 or 429; `failed`: any other error.",
    ),
  status: z.int().describe("The HTTP status; 499: the caller hung up before the answer."),
  duration_ms: z.int().optional().describe("Time from the call to the end of its answer, ms."),
  code: z.string().optional().describe("The code of the error."),
  outcome: z.enum(["completed", "failed", "unknown"]).optional().describe("The outcome of a fill."),
});
export type AuditedCall = z.infer<typeof AuditedCall>;

/** One call. */
export const AuditLine = z.strictObject({ stream, time, replica, ...AuditedCall.shape });
export type AuditLine = z.infer<typeof AuditLine>;

/** Stands for lines of one key that were left out because there were too many (AUDIT-4). */
export const SuppressedLine = z.strictObject({
  stream,
  time: z.iso.datetime().describe("When the line was written."),
  replica,
  key_id: keyId,
  suppressed: z.int().min(1).describe("Number of lines with the results `refused` and `failed` that were left out."),
  since: z.iso.datetime().describe("When the first of them was left out."),
});
export type SuppressedLine = z.infer<typeof SuppressedLine>;

/** Stands for lines that readers of recent lines don't find, because there were too many or Redis was away (AUDIT-7). */
export const LeftOutLine = z.strictObject({
  stream,
  time: z.iso.datetime().describe("When this was noted."),
  replica,
  project: z.string().nullable().describe("Id of the project of these lines; null: they have none."),
  left_out: z.int().min(1).describe("Number of lines that are only on stdout or in the file."),
  since: z.iso.datetime().describe("When the first of them was left out."),
});
export type LeftOutLine = z.infer<typeof LeftOutLine>;

/** What readers of recent lines get. */
export const RecentLine = z.union([AuditLine, SuppressedLine, LeftOutLine]);
export type RecentLine = z.infer<typeof RecentLine>;
