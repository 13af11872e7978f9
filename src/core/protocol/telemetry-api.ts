/**
 * How events of a session leave its agent. Only an API replica reads them; the agent keeps the newest in memory,
 * numbered from 1 for each lease, and numbers are never given twice within a lease.
 *
 *   GET /telemetry?session=S&after=N   a stream of lines, each a `TelemetryRecord` as JSON, whose `seq` rises and is above N. It
 *                                      begins with the oldest that is kept. What was dropped before is told by an event of its own. It
 *                                      ends when the lease has ended, after the last event; 404 when the session does not hold the
 *                                      browser and did not hold it last.
 *   PUT /telemetry   CaptureChange     → 200 AgentState: captured by these settings from now on | 409 not_holder
 *   PUT /masks       MaskValues, sealed → 200 AgentState: these values are in no event from now on | 409 not_holder | 429 when the
 *                                      lease has too many
 */
import { z } from "zod";
import { CaptureSettings, Fence, maxSessionId } from "./agent-api.ts";

/** The body of `PUT /telemetry`: the settings of a lease from now on. */
export const CaptureChange = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  telemetry: CaptureSettings.nullable(),
});
export type CaptureChange = z.infer<typeof CaptureChange>;

/** The body of `PUT /masks`: what a vault is about to fill into pages of this lease. */
export const MaskValues = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  values: z.array(z.string()).max(200),
});
export type MaskValues = z.infer<typeof MaskValues>;

/** The path of the stream with its query. `after`: the number of the last event that the caller has. */
export const telemetryPath = ({ session, after }: { session: string; after: number }): string =>
  `/telemetry?session=${encodeURIComponent(session)}&after=${after}`;
