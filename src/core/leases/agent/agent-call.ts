/** One call to an agent over HTTP, to whoever can prove to be that pod's agent; and once more where that may help. */

import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { z } from "zod";
import type { AgentState } from "../../protocol/agent-api.ts";
import type { AgentKeys } from "../../protocol/agent-key.ts";
import { proofHeader } from "../../protocol/agent-proof.ts";
import type { AgentTokens } from "../../protocol/agent-token.ts";
import { type LeaseRecord, notGenuine, unauthorized } from "../records.ts";
import type { LeaseAtAgent } from "./agent-client.ts";

/**
 * Whether the agent's answer says that this lease holds its browser. Any other answer means that what was asked for is
 * not done.
 */
export const isHeldAtAgent = (
  { session, epoch, seq }: Pick<LeaseAtAgent, "session" | "epoch" | "seq">,
  { lease }: AgentState,
): boolean => lease?.session_id === session && lease.epoch === epoch && lease.seq === seq;

type JsonCall = {
  /** `http://host:port` */
  origin: string;
  path: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  headers: Record<string, string>;
  /** Sent as JSON; bytes and streams as they are. */
  body?: object | Buffer | Readable;
  /** Deadline of the whole call, ms. */
  timeoutMs: number;
};

const timedOut = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: "TimeoutError" });

export type JsonAnswer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

const written = (body: object): string | Buffer | Readable =>
  Buffer.isBuffer(body) || body instanceof Readable ? body : JSON.stringify(body);

/**
 * Sends one request and reads the whole answer; `parse` makes the result of it. Rejects when no answer comes in time,
 * and with what `parse` throws. Meant for calls that a caller waits for: undici's `request` spends a quarter of such a
 * call on creating a stream and a signal.
 */
export const callJson = <T>(
  dispatcher: Dispatcher,
  { origin, path, method, headers, body, timeoutMs }: JsonCall,
  parse: (answer: JsonAnswer) => T,
): Promise<T> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let late: Error | undefined;
    let status = 0;
    let answered: JsonAnswer["headers"] = {};
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      late = timedOut(timeoutMs);
      controller?.abort(late);
      reject(late);
    }, timeoutMs);
    const options = { origin, path, method, headers, ...(body && { body: written(body) }) };
    // By default undici closes the connection after a DELETE with a body, because not every server reads it. Agents do.
    dispatcher.dispatch(
      { ...options, reset: false },
      {
        onRequestStart(begun) {
          controller = begun;
          if (late) begun.abort(late);
        },
        onResponseStart(_controller, statusCode, answerHeaders) {
          status = statusCode;
          answered = answerHeaders;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          clearTimeout(timer);
          try {
            resolve(parse({ status, headers: answered, body: Buffer.concat(chunks) }));
          } catch (error) {
            reject(error);
          }
        },
        onResponseError(_controller, error) {
          clearTimeout(timer);
          reject(error);
        },
      },
    );
  });

/**
 * The result of a call. `refused`: the agent answered with an error code, or something answered that does not prove to
 * be the pod's agent (`not_genuine`); `unreachable`: no answer came in time. The code `unauthorized` says something
 * about this process alone, and nothing about the browser; `agentMs`: the agent's time then.
 */
export type Called<Result> =
  | ({ kind: "ok" } & Result)
  | { kind: "refused"; code: string; agentMs?: number | undefined }
  | { kind: "unreachable"; reason: string };

/**
 * Where the agent of a browser listens. `browser`: the pod's uid; the agent accepts only tokens that name it. `pod`:
 * the pod's name, by which the agent's proof is checked.
 */
export type AgentPlace = Pick<LeaseRecord, "browser" | "pod" | "address">;

/** `body`: made for each try; JSON unless it is bytes or a stream. `read`: the result in a good answer; may throw. */
export type AgentCall<Result> = {
  method: "GET" | "PUT" | "DELETE";
  agent: AgentPlace;
  path: string;
  body?: (() => object | Buffer | Readable) | undefined;
  timeoutMs: number;
  read(answer: unknown): Result;
};

/** `tokens`: signs the tokens that agents require. `keys`: checks that the agents answer. */
export type AgentCallDeps = { tokens: AgentTokens; keys: Pick<AgentKeys, "challenge"> };

/** Makes one call; never throws. Every call may be repeated: the agent answers the same one alike. */
type CallAgent = <Result extends object>(call: AgentCall<Result>) => Promise<Called<Result>>;

const Refusal = z.object({ code: z.string(), now: z.int().min(0).optional() });

const refused = (status: number, answer: unknown): Called<never> => {
  const { code = `http_${status}`, now } = Refusal.safeParse(answer).data ?? {};
  return { kind: "refused", code, ...(code === unauthorized && { agentMs: now }) };
};

/** Of a connection that the agent closed while it was idle, or in whose place another process listens by now. */
const isReset = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ECONNRESET" || error.code === "UND_ERR_SOCKET" || error.code === "EPIPE");

const contentType = (body: unknown): string =>
  Buffer.isBuffer(body) || (typeof body === "object" && body !== null && "pipe" in body)
    ? "application/octet-stream"
    : "application/json";

/** The function that makes calls over this dispatcher. */
export const createCallAgent = (dispatcher: Dispatcher, { tokens, keys }: AgentCallDeps): CallAgent => {
  const callOnce = async <Result extends object>({
    method,
    agent,
    path,
    body: makeBody,
    timeoutMs,
    read,
  }: AgentCall<Result>): Promise<Called<Result> | "reset"> => {
    const challenge = keys.challenge(agent.pod);
    const body = makeBody?.();
    const request = {
      origin: `http://${agent.address}`,
      path,
      method,
      headers: {
        ...challenge.headers,
        authorization: `Bearer ${tokens.tokenFor(agent.browser)}`,
        "content-type": contentType(body),
      },
      ...(body && { body }),
      timeoutMs,
    };
    try {
      return await callJson(dispatcher, request, (answer): Called<Result> => {
        const proof = answer.headers[proofHeader];
        // Nothing of an answer is read before it is known who sent it.
        if (!challenge.isMetBy({ ...answer, method, path }, typeof proof === "string" ? proof : undefined))
          return { kind: "refused", code: notGenuine };
        const said: unknown = JSON.parse(answer.body.toString());
        return answer.status === 200 ? { kind: "ok", ...read(said) } : refused(answer.status, said);
      });
    } catch (error) {
      if (isReset(error)) return "reset";
      return { kind: "unreachable", reason: error instanceof Error ? error.name : "unknown" };
    }
  };
  return async (wanted) => {
    const first = await callOnce(wanted);
    const agentMs = first !== "reset" && first.kind === "refused" ? first.agentMs : undefined;
    if (agentMs !== undefined) tokens.goBy(wanted.agent.browser, agentMs);
    const answer = first === "reset" || agentMs !== undefined ? await callOnce(wanted) : first;
    return answer === "reset" ? { kind: "unreachable", reason: "reset" } : answer;
  };
};
