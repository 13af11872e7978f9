/** The calls by which the API fetches what sessions have left (api.ts). */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Routes } from "../../../core/agent/agent-http.ts";
import { type AgentReply, refusal, refusals } from "../../../core/agent/agent-reply.ts";
import type { AgentLines } from "../../../core/agent/line-streams.ts";
import { sealBytes } from "../../../core/protocol/sealed-bytes.ts";
import { StreamQuery } from "../../../core/protocol/session-stream.ts";
import { type LeftLine, leftContext } from "./api.ts";
import type { LeftFiles, LeftPart } from "./left-files.ts";

type LeftRouteDeps = {
  /** Loads them. */
  left(): Promise<Pick<LeftFiles, "read" | "forget">>;
  agentKey: KeyObject;
};

const sessionIn = ({ url = "" }: IncomingMessage): string | AgentReply => {
  const query = StreamQuery.safeParse(Object.fromEntries(URL.parse(url, "http://agent")?.searchParams ?? []));
  return query.success ? query.data.session : refusal("bad_request", "session=…");
};

/** The routes. */
export const leftRoutes = ({ left, agentKey }: LeftRouteDeps): Routes => {
  const read = async (request: IncomingMessage): Promise<AgentReply | AgentLines> => {
    const session = sessionIn(request);
    if (typeof session !== "string") return session;
    const parts = (await left()).read(session);
    if (!parts) return refusals.session_not_found;
    const line = (part: LeftPart): LeftLine => {
      if ("indexBytes" in part) return { index_bytes: part.indexBytes, content_bytes: part.contentBytes };
      if (!("bytes" in part)) return part;
      return { piece: sealBytes(agentKey, part.bytes, leftContext(session, part.offset)).toString("base64") };
    };
    const lines = async function* (signal: AbortSignal): AsyncGenerator<LeftLine> {
      for await (const part of parts(signal)) yield line(part);
    };
    return { status: 200, lines, isReserved: true };
  };
  const forget = async (request: IncomingMessage): Promise<AgentReply> => {
    const session = sessionIn(request);
    if (typeof session !== "string") return session;
    return (await left()).forget(session) ? { status: 200, body: { ok: true } } : refusals.session_not_found;
  };
  return { "/files": { GET: read, DELETE: forget } };
};
