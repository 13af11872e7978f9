/**
 * The calls of a holder to what is beside its browser (core/protocol/browser-call.ts):
 *
 *   request ──► load the feature ──► is this session's lease held? ──► its handler ──► JSON, or bytes ──► it is over
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
import type { CalledFeature } from "./called-feature.ts";
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

const describe = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`).join("; ");

/** What a name has in the place of the contract's parameter, empty without one; undefined when the call is another. */
const paramOf = (contract: CallContract, { method, name }: Asked): string | undefined => {
  if (contract.method !== method.toLowerCase()) return undefined;
  const [wanted, given] = [contract.name.split("/"), name.split("/")];
  if (wanted.length !== given.length) return undefined;
  const at = wanted.findIndex((part) => part.startsWith("{"));
  if (wanted.some((part, index) => index !== at && part !== given[index])) return undefined;
  return at === -1 ? "" : decodeURIComponent(given[at] ?? "");
};

type Asked = { method: string; name: string };

/** Loads the feature whose call it is. */
const findHandler = async (
  features: readonly Pick<CalledFeature, "names" | "load">[],
  asked: Asked,
): Promise<{ handler: CallHandler; param: string } | undefined> => {
  const [first = ""] = asked.name.split("/", 1);
  const { handlers = [] } = (await features.find(({ names }) => names.includes(first))?.load()) ?? {};
  for (const handler of handlers) {
    const param = paramOf(handler.contract, asked);
    if (param !== undefined) return { handler, param };
  }
  return undefined;
};

/** What a handler refuses, as a reply. */
const orRefused = async (reply: Promise<AgentReply | CallBytes>): Promise<AgentReply | CallBytes> => {
  try {
    return await reply;
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error;
    return refusal(error.code, error.message.slice(0, maxRefusalChars));
  }
};

/** The routes of these features' calls. */
export const callRoutes = ({
  leases,
  features,
  onCall,
}: {
  leases: Pick<LeaseKeeper, "enter">;
  features: readonly Pick<CalledFeature, "names" | "load">[];
  /** Told of each call when it has been carried out or refused. `name`: the contract's. */
  onCall(name: string, outcome: { status: number; durationMs: number }): void;
}): Routes => {
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
    const asked = { method: request.method ?? "", name: pathname.slice(callsPath.length) };
    const found = await findHandler(features, asked);
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
    const given = { param: found.param, searchParams, signal: call.signal };
    const reply = await orRefused(carryOut(found.handler, request, given)).catch((error: unknown) => {
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
