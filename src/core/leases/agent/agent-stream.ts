/**
 * Streams of lines from an agent (core/agent/line-streams.ts), of whoever proves to be that pod's agent:
 *
 *   request ──► head with the proof ──► lines ──► the answer's end: all was said
 *                                         │
 *                                         └─ 30 s without a byte, a line too long, no JSON, no end: `AgentStreamBroken`
 *
 * Lines are read as fast as their reader takes them: what waits is one piece from the socket and one line.
 */
import { StringDecoder } from "node:string_decoder";
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { proofHeader, streamedBody } from "../../protocol/agent-proof.ts";
import { notGenuine, unauthorized } from "../records.ts";
import type { AgentCallDeps, AgentPlace, Called } from "./agent-call.ts";

/** Deadline for a connection and for the head of an answer, ms. */
const connectMs = 2000;
const headMs = 5000;

/**
 * Longest silence of a stream, ms: an agent sends an empty line after 10 s. It does not count while the reader takes
 * nothing.
 */
const silenceMs = 30_000;

/** Longest line, characters. */
const maxLineChars = 1024 * 1024;

/** Largest refusal that is read, bytes. */
const maxRefusalBytes = 16 * 1024;

/** Streams from one agent at once; an agent itself allows fewer. */
const connections = 32;

/** A stream had no end: the agent is gone, or it sent what is no line. */
export class AgentStreamBroken extends Error {
  override name = "AgentStreamBroken";
}

/**
 * Opened streams have these lines, each a value of JSON. Reading them throws an `AgentStreamBroken`, or the reason of
 * the signal.
 */
export type OpenedStream = { lines: AsyncIterable<unknown> };

export type AgentStreams = {
  /**
   * Asks an agent for a stream. `path`: with its query. Never rejects but with the reason of `signal`, whose abort also
   * ends the stream. Who opens a stream must read it or abort the signal.
   */
  open(agent: AgentPlace, path: string, signal: AbortSignal): Promise<Called<OpenedStream>>;
  close(): Promise<void>;
};

const Refusal = z.object({ code: z.string(), now: z.int().min(0).optional() });

const broken = (why: string, cause?: unknown): AgentStreamBroken =>
  new AgentStreamBroken(`the browser's agent broke a stream off: ${why}`, { cause });

const parseLine = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw broken("a line is no JSON", cause);
  }
};

/** The values of lines of JSON; empty lines are left out. */
const valuesOf = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parseLine(line);
    if (rest.length > maxLineChars) throw broken(`a line has more than ${maxLineChars} characters`);
  }
  if (rest !== "") throw broken("its last line has no end");
};

const readStream = async function* (
  body: Dispatcher.ResponseData["body"],
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  try {
    yield* valuesOf(body);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AgentStreamBroken ? error : broken(error instanceof Error ? error.name : "unknown", error);
  } finally {
    body.destroy();
  }
};

const refusalIn = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxRefusalBytes) throw broken("its refusal is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** The caller must call `close`. */
export const createAgentStreams = ({ tokens, keys }: AgentCallDeps): AgentStreams => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: headMs,
    bodyTimeout: silenceMs,
    connections,
  });
  const openOnce = async (agent: AgentPlace, path: string, signal: AbortSignal): Promise<Called<OpenedStream>> => {
    const challenge = keys.challenge(agent.pod);
    const { statusCode, headers, body } = await dispatcher.request({
      origin: `http://${agent.address}`,
      path,
      method: "GET",
      headers: { ...challenge.headers, authorization: `Bearer ${tokens.tokenFor(agent.browser)}` },
      signal,
    });
    // Also when nobody reads it any more.
    body.on("error", () => undefined);
    const isStream = statusCode === 200;
    const said = isStream ? streamedBody : await refusalIn(body);
    const proof = headers[proofHeader];
    const proven = { method: "GET", path, status: statusCode, body: said };
    // Nothing of an answer is read before it is known who sent it.
    if (!challenge.isMetBy(proven, typeof proof === "string" ? proof : undefined)) {
      body.destroy();
      return { kind: "refused", code: notGenuine };
    }
    if (isStream) return { kind: "ok", lines: readStream(body, signal) };
    const { code, now } = Refusal.parse(JSON.parse(said));
    return { kind: "refused", code, ...(code === unauthorized && { agentMs: now }) };
  };
  const tryOpen = async (agent: AgentPlace, path: string, signal: AbortSignal): Promise<Called<OpenedStream>> => {
    try {
      return await openOnce(agent, path, signal);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "unreachable", reason: error instanceof Error ? error.name : "unknown" };
    }
  };
  return {
    async open(agent, path, signal) {
      const first = await tryOpen(agent, path, signal);
      if (first.kind === "ok" || (first.kind === "refused" && first.agentMs === undefined)) return first;
      // A connection that was kept may be gone by now, and clocks may differ (LEASE-55): once more.
      if (first.kind === "refused" && first.agentMs !== undefined) tokens.goBy(agent.browser, first.agentMs);
      return tryOpen(agent, path, signal);
    },
    close: () => dispatcher.destroy(),
  };
};
