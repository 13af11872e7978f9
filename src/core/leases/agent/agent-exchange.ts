/**
 * A holder's call to what is beside its browser (core/protocol/browser-call.ts), as one exchange with the agent. Bodies
 * go through as they come, both ways; an answer in JSON is read whole and proven, of one in bytes the head is.
 */
import type { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import { z } from "zod";
import { sessionHeader } from "../../protocol/agent-api.ts";
import { proofHeader, streamedBody } from "../../protocol/agent-proof.ts";
import { callsPath, maxRefusalChars } from "../../protocol/browser-call.ts";
import { notGenuine, unauthorized } from "../records.ts";
import type { AgentCallDeps } from "./agent-call.ts";
import type { LeaseAtAgent } from "./agent-client.ts";

const connectMs = 2000;

/** Time for the head of an answer after the last byte of the call, ms: a search through many files takes long. */
const headMs = 120_000;

/** Longest silence within an answer, ms. */
const silenceMs = 60_000;

/**
 * How long an unused connection stays open, ms: the agent closes one after 30 s, and a call that meets that end can't be
 * repeated.
 */
const keepAliveMs = 10_000;

/** Calls to one agent at once; an agent itself allows as many for a lease. */
const connections = 32;

/** Largest answer in JSON, bytes. */
const maxJsonBytes = 16 * 1024 * 1024;

/** `path`: what follows `callsPath`, with its query. `type`: of the bytes. `answerMs`: time for the head of the answer. */
export type HolderCall = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  json?: unknown;
  bytes?: Readable | undefined;
  type?: string | undefined;
  answerMs?: number | undefined;
};

/** `refused`: by the agent, in words for the holder. `length`: undefined when it is not known before. */
export type Exchanged =
  | { kind: "json"; answer: unknown }
  | { kind: "bytes"; bytes: AsyncIterable<Buffer>; length: number | undefined }
  | { kind: "refused"; code: string; message: string }
  | { kind: "unreachable"; reason: string };

export type AgentExchanges = {
  /** Rejects with what reading the call's bytes throws, and the reason of the signal, whose abort also ends an answer in bytes. */
  exchange(lease: LeaseAtAgent, call: HolderCall, signal: AbortSignal): Promise<Exchanged>;
  close(): Promise<void>;
};

const Refusal = z.object({
  code: z.string(),
  message: z.string().max(maxRefusalChars).catch(""),
  now: z.int().min(0).optional(),
});

const wholeOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxJsonBytes) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

type Response = Dispatcher.ResponseData;

type OnceExchanged = Exchanged & { agentMs?: number | undefined };

/** `said`: the JSON of an answer, unread; undefined for bytes, of which the head is proven. */
const heardFrom = async (
  { statusCode, headers, body }: Response,
  challenge: ReturnType<AgentCallDeps["keys"]["challenge"]>,
  asked: { method: string; path: string },
): Promise<{ isProven: boolean; said: string | undefined }> => {
  const isBytes = headers["content-type"] === "application/octet-stream";
  const said = isBytes ? undefined : await wholeOf(body);
  const proof = headers[proofHeader];
  const proven = { ...asked, status: statusCode, body: said ?? streamedBody };
  return { isProven: challenge.isMetBy(proven, typeof proof === "string" ? proof : undefined), said };
};

const bytesOf = ({ headers, body }: Response): OnceExchanged => {
  const length = headers["content-length"];
  return { kind: "bytes", bytes: body, length: length === undefined ? undefined : Number(length) };
};

const readJson = (status: number, said: string): OnceExchanged => {
  const answer: unknown = JSON.parse(said);
  if (status === 200) return { kind: "json", answer: z.object({ answer: z.unknown() }).parse(answer).answer };
  const { code, message, now } = Refusal.parse(answer);
  return { kind: "refused", code, message, ...(code === unauthorized && { agentMs: now }) };
};

/** The caller must call `close`. */
export const createAgentExchanges = ({ tokens, keys }: AgentCallDeps): AgentExchanges => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    bodyTimeout: silenceMs,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    connections,
  });

  const once = async (lease: LeaseAtAgent, call: HolderCall, signal: AbortSignal): Promise<OnceExchanged> => {
    const { method, json, bytes, answerMs = headMs } = call;
    const challenge = keys.challenge(lease.pod);
    const path = `${callsPath}${call.path}`;
    const response = await dispatcher.request({
      origin: `http://${lease.address}`,
      path,
      method,
      headers: {
        ...challenge.headers,
        authorization: `Bearer ${tokens.tokenFor(lease.browser)}`,
        [sessionHeader]: lease.session,
        "content-type": (bytes && call.type) || "application/json",
      },
      body: bytes ?? (json === undefined ? null : JSON.stringify(json)),
      headersTimeout: answerMs,
      signal,
    });
    // Also when nobody reads it any more.
    response.body.on("error", () => undefined);
    const { isProven, said } = await heardFrom(response, challenge, { method, path });
    // Nothing of an answer is read before it is known who sent it.
    if (isProven) return said === undefined ? bytesOf(response) : readJson(response.statusCode, said);
    response.body.destroy();
    return { kind: "refused", code: notGenuine, message: "" };
  };
  return {
    async exchange(lease, call, signal) {
      try {
        const first = await once(lease, call, signal);
        if (first.agentMs === undefined) return first;
        // Clocks differ (LEASE-55), and nothing was done. A body that was sent is gone, and its caller repeats it.
        tokens.goBy(lease.browser, first.agentMs);
        return call.bytes ? { kind: "unreachable", reason: "clocks" } : await once(lease, call, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (call.bytes?.errored) throw call.bytes.errored;
        return { kind: "unreachable", reason: error instanceof Error ? error.name : "unknown" };
      }
    },
    close: () => dispatcher.destroy(),
  };
};
