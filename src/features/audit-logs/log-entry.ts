/** A call as the public clients read it: an audit line in their fields, and the rest of the line as it is. */
import { z } from "zod";
import { AuditedCall, type AuditLine } from "../../platform/audit/audit-line.ts";

const own = AuditedCall.omit({
  address: true,
  key_id: true,
  object: true,
  method: true,
  route: true,
  duration_ms: true,
});

const neverNoted = (what: string) => z.literal("").describe(`Always empty: ${what} is not noted.`);

export const AuditLogEntry = z.strictObject({
  timestamp: z.iso.datetime().describe("When the call was answered."),
  auth_strategy: z.enum(["api_key", ""]).describe("`api_key`; empty for a call without a known key."),
  user_id: z.string().describe("The id of the API key; empty for a call without a known key."),
  email: z.literal("").describe("Always empty: there are no users."),
  client_ip: z.string().describe("The address that the call came from."),
  user_agent: neverNoted("what a caller says of itself"),
  domain: neverNoted("the host of the request"),
  method: z.string().describe("The HTTP method."),
  path: z.string().describe("The path. While it is not sure that there are such objects, only its form."),
  route: z.string().describe("The form of the path."),
  duration_ms: z.int().describe("Time from the call to the end of its answer, ms."),
  ...own.shape,
});
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

/** A line of an older release has no method and no duration. */
export const entryOf = ({
  stream: _stream,
  replica: _replica,
  time,
  address,
  key_id,
  object,
  method = "",
  route = object,
  duration_ms = 0,
  ...rest
}: AuditLine): AuditLogEntry => ({
  timestamp: time,
  auth_strategy: key_id === null ? "" : "api_key",
  user_id: key_id ?? "",
  email: "",
  client_ip: address,
  user_agent: "",
  domain: "",
  method,
  path: object,
  route,
  duration_ms,
  ...rest,
});
