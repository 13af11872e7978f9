/**
 * How events of a session leave its agent. Only an API replica reads them; the agent keeps the newest in memory, numbered from 1 for each
 * lease, and numbers are never given twice within a lease.
 *
 *   GET /telemetry?session=S&after=N   a stream of lines, each a `TelemetryRecord` as JSON, whose `seq` rises and is above N; an empty
 *                                      line every 10 s. It begins with the oldest that is kept. What was dropped before is told by an
 *                                      event of its own. It ends when the lease ends, after the last event; 404 when the session does
 *                                      not hold the browser and did not hold it last.
 *   PUT /telemetry   CaptureChange     → 200 AgentState: captured by these settings from now on | 409 not_holder
 */
import { z } from "zod";
import { Fence, maxSessionId } from "./agent-api.ts";

/** Telemetry settings of a lease in their wire form, which are merged onto those that its browser was made with; 8 KiB at most. */
export const CaptureSettings = z.record(z.string(), z.unknown());

/** The body of `PUT /telemetry`: the settings of a lease from now on. */
export const CaptureChange = Fence.extend({
  session_id: z.string().min(1).max(maxSessionId),
  telemetry: CaptureSettings.nullable(),
});
export type CaptureChange = z.infer<typeof CaptureChange>;

/** How often a quiet stream has an empty line, ms. */
export const heartbeatMs = 10_000;
