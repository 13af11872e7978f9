/**
 * The calls of a holder to what is beside its browser (core/protocol/browser-call.ts):
 *
 *   request ──► is this session's lease held? ──► the feature's handler ──► JSON, or bytes ──► the call is over
 *                                                    │
 *                                                    └─ the lease ends: its signal is aborted, and the connection cut
 *
 * A call counts as an open connection of the lease: its idle timer waits.
 */
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { letRunDry } from "../../platform/net/body-of.ts";
import { sessionHeader } from "../protocol/agent-api.ts";
import { type CallContract, callsPath, maxRefusalChars } from "../protocol/browser-call.ts";
import { type AgentBytes, parseBody, type Routes } from "./agent-http.ts";
import { type AgentErrorCode, type AgentReply, refusal, refusals } from "./agent-reply.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** A feature can't do what a holder asks. The message is for the holder. */
export class CallRefused extends Error {
  override name = "CallRefused";
  readonly code: AgentErrorCode;
  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** `request`: its body is unread in a call with an upload. `param`: what the path says in the place of its parameter. */
type CallInput<Query = unknown, Body = unknown> = {
  query: Query;
  body: Body;
  param: string;
  request: IncomingMessage;
  signal: AbortSignal;
};

/** What a handler answers: a value, nothing, or bytes. */
export type CallBytes = Pick<AgentBytes, "bytes" | "length">;
type CallAnswer = { value?: unknown } | CallBytes;

export type CallHandler = {
  contract: CallContract;
  // biome-ignore lint/suspicious/noExplicitAny: a table has handlers of every shape
  handle(input: CallInput<any, any>): Promise<CallAnswer>;
};

/** A call's handler, with the types of its contract. Throws a `CallRefused`. */
export const callHandler = <Query extends z.ZodObject | undefined, Body extends z.ZodType | undefined>(
  contract: CallContract<Query, Body>,
  handle: (input: CallInput<Output<Query>, Output<Body>>) => Promise<CallAnswer>,
): CallHandler => ({ contract, handle });

/** Largest body of JSON, bytes; the API lets no larger one through. */
const maxBodyBytes = 1024 * 1024;

/** A call's place among the handlers. */
const keyOf = (method: string, name: string): string => `${method.toUpperCase()} ${name}`;

const describe = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`).join("; ");

/** What stands for the parameter of a name, and is no part of any path. */
const anything = "{}";

/** More parts than a name has. */
const mostParts = 8;

/** What a handler refuses, as a reply. */
const orRefused = async (reply: Promise<AgentReply | CallBytes>): Promise<AgentReply | CallBytes> => {
  try {
    return await reply;
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error;
    return refusal(error.code, error.message.slice(0, maxRefusalChars));
  }
};

/** The routes of these handlers. */
export const callRoutes = ({
  leases,
  handlers,
  onCall,
}: {
  leases: Pick<LeaseKeeper, "enter">;
  handlers: readonly CallHandler[];
  /** Told of each call when it has been carried out or refused. `name`: the contract's. */
  onCall(name: string, outcome: { status: number; durationMs: number }): void;
}): Routes => {
  const byKey = new Map(
    handlers.map((handler) => [
      keyOf(handler.contract.method, handler.contract.name.replace(/\{\w+\}/, anything)),
      handler,
    ]),
  );
  const find = (method: string, name: string): { handler: CallHandler; param: string } | undefined => {
    const whole = byKey.get(keyOf(method, name));
    if (whole) return { handler: whole, param: "" };
    const parts = name.split("/").slice(0, mostParts);
    for (const [at, part] of parts.entries()) {
      const handler = byKey.get(keyOf(method, parts.with(at, anything).join("/")));
      if (handler) return { handler, param: decodeURIComponent(part) };
    }
    return undefined;
  };

  const carryOut = async (
    { contract, handle }: CallHandler,
    request: IncomingMessage,
    asked: { param: string; searchParams: URLSearchParams; signal: AbortSignal },
  ): Promise<AgentReply | CallBytes> => {
    const query = (contract.query ?? z.object({})).safeParse(Object.fromEntries(asked.searchParams));
    if (!query.success) return refusal("bad_request", describe(query.error));
    const read = contract.body
      ? await parseBody(request, contract.body, { maxBytes: maxBodyBytes })
      : { body: undefined };
    if ("refused" in read) return read.refused;
    const { param, signal } = asked;
    const answer = await handle({ query: query.data, body: read.body, param, request, signal });
    return "bytes" in answer ? answer : { status: 200, body: { answer: answer.value ?? null } };
  };

  const serve = async (request: IncomingMessage): Promise<AgentReply | AgentBytes> => {
    const { pathname = "", searchParams = new URLSearchParams() } = URL.parse(request.url ?? "", "http://agent") ?? {};
    const found = find(request.method ?? "", pathname.slice(callsPath.length));
    if (!found) return refusals.not_found;
    const call = leases.enter(String(request.headers[sessionHeader] ?? ""));
    if (typeof call === "string") return refusals[call];
    const cut = (): void => void request.socket.destroy();
    call.signal.addEventListener("abort", cut, { once: true });
    request.socket.once("close", call.done);
    const leave = (): void => {
      // Were the connection closed with a part of a body unread, its caller could lose the answer.
      if (found.handler.contract.upload) letRunDry(request);
      call.signal.removeEventListener("abort", cut);
      request.socket.off("close", call.done);
      call.done();
    };
    const beginMs = performance.now();
    const asked = { param: found.param, searchParams, signal: call.signal };
    const reply = await orRefused(carryOut(found.handler, request, asked)).catch((error: unknown) => {
      leave();
      throw error;
    });
    const status = "bytes" in reply ? 200 : reply.status;
    // A call that outlives its lease is no matter of the next holder's.
    if (!call.signal.aborted) onCall(found.handler.contract.name, { status, durationMs: performance.now() - beginMs });
    if ("bytes" in reply) return { status: 200, ...reply, after: leave };
    leave();
    return reply;
  };
  return { [callsPath]: { GET: serve, POST: serve, PUT: serve, DELETE: serve } };
};
