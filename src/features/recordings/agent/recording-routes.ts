/** The calls by which the API records the session that holds the browser (features/recordings/agent/api.ts). */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { parseBody, type Routes } from "../../../core/agent/agent-http.ts";
import { type AgentReply, refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { LeaseKeeper } from "../../../core/agent/lease-keeper.ts";
import type { AgentLines } from "../../../core/agent/line-streams.ts";
import { sealBytes } from "../../../core/protocol/sealed-bytes.ts";
import { pieceContext, RecordingId, type RecordingLine, RecordingQuery, StartRecording } from "./api.ts";
import type { RecordingPart, Recordings } from "./recordings.ts";

const maxBodyBytes = 4096;

type RecordingRouteDeps = {
  leases: Pick<LeaseKeeper, "isHeldBy" | "isStarting">;
  recordings: Pick<Recordings, "start" | "stop" | "forget" | "read">;
  agentKey: KeyObject;
};

type Asked = { id: string; query: RecordingQuery };

const askedIn = ({ url = "" }: IncomingMessage): Asked | AgentReply => {
  const { pathname = "", searchParams } = URL.parse(url, "http://agent") ?? {};
  const id = RecordingId.safeParse(pathname.slice(pathname.lastIndexOf("/") + 1));
  const query = RecordingQuery.safeParse(Object.fromEntries(searchParams ?? []));
  if (!id.success) return refusals.not_found;
  return query.success ? { id: id.data, query: query.data } : refusal("bad_request", "session=…&after=N");
};

/** The routes of recordings. */
export const recordingRoutes = ({ leases, recordings, agentKey }: RecordingRouteDeps): Routes => {
  const start = async (request: IncomingMessage): Promise<AgentReply> => {
    const id = RecordingId.safeParse(request.url?.slice(request.url.lastIndexOf("/") + 1));
    const read = await parseBody(request, StartRecording, { maxBytes: maxBodyBytes });
    if ("refused" in read) return read.refused;
    if (!id.success) return refusals.not_found;
    if (!leases.isHeldBy(read.body)) return refusals.not_holder;
    if (leases.isStarting()) return refusals.browser_unhealthy;
    const outcome = await recordings.start(id.data, read.body);
    return typeof outcome === "string" ? refusals[outcome] : { status: 200, body: outcome };
  };
  const stop = async (request: IncomingMessage): Promise<AgentReply> => {
    const asked = askedIn(request);
    if (!("query" in asked)) return asked;
    const { session, stored } = asked.query;
    if (stored) return recordings.forget(session, asked.id) ? { status: 200, body: { ok: true } } : refusals.not_found;
    const size = await recordings.stop(session, asked.id);
    return size ? { status: 200, body: size } : refusals.not_found;
  };
  const read = async (request: IncomingMessage): Promise<AgentReply | AgentLines> => {
    const asked = askedIn(request);
    if (!("query" in asked)) return asked;
    const { id, query } = asked;
    const parts = recordings.read(query.session, id, query.after);
    if (!parts) return refusals.not_found;
    const line = (part: RecordingPart): RecordingLine => {
      if ("end" in part) return part;
      const context = pieceContext(query.session, id, part.offset);
      return { piece: sealBytes(agentKey, part.bytes, context).toString("base64") };
    };
    const lines = async function* (signal: AbortSignal): AsyncGenerator<RecordingLine> {
      for await (const part of parts(signal)) yield line(part);
    };
    return { status: 200, lines, isReserved: true };
  };
  return { "/replays/": { PUT: start, GET: read, DELETE: stop } };
};
