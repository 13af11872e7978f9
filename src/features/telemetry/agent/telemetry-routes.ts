/** The calls by which the API reads a lease's telemetry and changes it (core/protocol/telemetry-api.ts). */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { parseBody, type Routes } from "../../../core/agent/agent-http.ts";
import { type AgentReply, refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { LeaseKeeper } from "../../../core/agent/lease-keeper.ts";
import type { AgentLines } from "../../../core/agent/line-streams.ts";
import { openText } from "../../../core/protocol/sealed-bytes.ts";
import { CaptureChange, MaskValues } from "../../../core/protocol/telemetry-api.ts";
import type { SessionTelemetry } from "./session-telemetry.ts";

/** Settings have 8 KiB; filled values 50 times 64 KiB at most, each character escaped. */
const maxSettingsBytes = 64 * 1024;
const maxValuesBytes = 4 * 1024 * 1024;

const Query = z.object({
  session: z.string().min(1),
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .default(0),
});

type TelemetryRouteDeps = {
  leases: Pick<LeaseKeeper, "isHeldBy" | "state">;
  telemetry: Pick<SessionTelemetry, "stream" | "change" | "mask">;
  agentKey: KeyObject;
};

/** The routes of telemetry. */
export const telemetryRoutes = ({ leases, telemetry, agentKey }: TelemetryRouteDeps): Routes => {
  const done = (): AgentReply => ({ status: 200, body: leases.state() });

  const read = async ({ url = "" }: IncomingMessage): Promise<AgentReply | AgentLines> => {
    const { searchParams } = URL.parse(url, "http://agent") ?? {};
    const query = Query.safeParse(Object.fromEntries(searchParams ?? []));
    if (!query.success) return refusal("bad_request", "session and after: a session and a whole number");
    const lines = telemetry.stream(query.data.session, query.data.after);
    return lines ? { status: 200, lines, isReserved: true } : refusals.session_not_found;
  };
  const change = async (request: IncomingMessage): Promise<AgentReply> => {
    const read = await parseBody(request, CaptureChange, { maxBytes: maxSettingsBytes });
    if ("refused" in read) return read.refused;
    if (!leases.isHeldBy(read.body)) return refusals.not_holder;
    telemetry.change(read.body.telemetry ?? undefined);
    return done();
  };
  const mask = async (request: IncomingMessage): Promise<AgentReply> => {
    const options = { maxBytes: maxValuesBytes, open: (bytes: Buffer) => openText(agentKey, bytes) };
    const read = await parseBody(request, MaskValues, options);
    if ("refused" in read) return read.refused;
    if (!leases.isHeldBy(read.body)) return refusals.not_holder;
    return telemetry.mask(read.body.values) ? done() : refusals.too_many_requests;
  };
  return { "/telemetry": { GET: read, PUT: change }, "/masks": { PUT: mask } };
};
