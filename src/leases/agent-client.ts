import { Agent } from "undici";
import { z } from "zod";
import { AgentState, type BindLease, type EndLease, type Reuse } from "../protocol/agent-api.ts";
import type { AgentKeys } from "../protocol/agent-key.ts";
import { proofHeader } from "../protocol/agent-proof.ts";
import type { AgentTokens } from "../protocol/agent-token.ts";
import { callJson, type JsonAnswer } from "./json-call.ts";
import { type LeaseRecord, notGenuine, unauthorized } from "./records.ts";

/** Deadline of one call to an agent, ms: the agent waits up to 2 s for Chromium, and a margin. */
const callTimeoutMs = 3000;

/** Deadline for a connection to an agent, ms, where a caller waits for it: then the next browser is tried. */
export const quickConnectMs = 300;

/** Deadline of the wait for a reset, ms: the agent gives one up after 40 s. */
const resetTimeoutMs = 45_000;

/** Largest answer that is read, bytes. A state with the longest request of a lease, every character escaped, is smaller. */
const maxAnswerBytes = 1024 * 1024;

/**
 * The result of a call. `refused`: the agent answered with an error code, or something answered that does not prove to be the
 * pod's agent (`not_genuine`); `unreachable`: no answer came in time. The code `unauthorized` says something about this process
 * alone, and nothing about the browser; `agentMs`: the agent's time then.
 */
export type AgentAnswer =
  | { kind: "ok"; state: AgentState }
  | { kind: "refused"; code: string; agentMs?: number | undefined }
  | { kind: "unreachable"; reason: string };

/**
 * Where the agent of a browser listens. `browser`: the pod's uid; the agent accepts only tokens that name it. `pod`: the pod's name,
 * by which the agent's proof is checked.
 */
export type AgentPlace = Pick<LeaseRecord, "browser" | "pod" | "address">;

/** A lease as its agent knows it. */
export type LeaseAtAgent = AgentPlace & Pick<LeaseRecord, "session" | "epoch" | "seq">;

/** Calls to agents. None throws. */
export type AgentClient = {
  bind(lease: LeaseRecord, body: BindLease): Promise<AgentAnswer>;
  /** `reuse`: what becomes of the browser. The answer's state tells whether the agent is resetting it. */
  end(lease: LeaseAtAgent, reuse: Reuse): Promise<AgentAnswer>;
  /** Waits until the browser is no longer being reset: `ok` when it is up. */
  afterReset(agent: AgentPlace): Promise<AgentAnswer>;
  /** The agent's state. From then on the agent refuses binds of epochs below this one. */
  state(agent: AgentPlace, epoch: number): Promise<AgentAnswer>;
  /**
   * Makes sure that the agent takes the next token, if this process' clock is what it refused (`AgentTokens.goBy`). For upgrades,
   * which this client does not make.
   */
  learnTime(agent: AgentPlace): Promise<void>;
  close(): Promise<void>;
};

const Refusal = z.object({ code: z.string(), now: z.int().min(0).optional() });

const readAnswer = ({ status, body }: JsonAnswer): AgentAnswer => {
  const answer: unknown = JSON.parse(body.toString());
  if (status === 200) return { kind: "ok", state: AgentState.parse(answer) };
  const { code = `http_${status}`, now } = Refusal.safeParse(answer).data ?? {};
  return { kind: "refused", code, ...(code === unauthorized && { agentMs: now }) };
};

/** Of a connection that the agent closed while it was idle, or in whose place another process listens by now. */
const isReset = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ECONNRESET" || error.code === "UND_ERR_SOCKET" || error.code === "EPIPE");

type Call = {
  method: "GET" | "PUT" | "DELETE";
  agent: AgentPlace;
  path?: string;
  body?: BindLease | EndLease;
  timeoutMs?: number;
};

/** `tokens`: signs the tokens that agents require. `keys`: checks that the agents answer. */
export type AgentClientDeps = { tokens: AgentTokens; keys: Pick<AgentKeys, "challenge"> };

/**
 * `keepAliveMs`: how long an unused connection stays open; left out, 30 s, which suits a process that calls the same agent again
 * and again. `connectMs`: the deadline for a connection; left out, that of the call.
 */
export const createAgentClient = (
  { tokens, keys }: AgentClientDeps,
  { keepAliveMs = 30_000, connectMs = callTimeoutMs }: { keepAliveMs?: number; connectMs?: number } = {},
): AgentClient => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    keepAliveTimeout: keepAliveMs,
    connections: 8,
    maxResponseSize: maxAnswerBytes,
  });

  const callOnce = async ({
    method,
    agent,
    path = "/lease",
    body,
    timeoutMs = callTimeoutMs,
  }: Call): Promise<AgentAnswer | "reset"> => {
    const challenge = keys.challenge(agent.pod);
    const request = {
      origin: `http://${agent.address}`,
      path,
      method,
      headers: {
        ...challenge.headers,
        authorization: `Bearer ${tokens.tokenFor(agent.browser)}`,
        "content-type": "application/json",
      },
      ...(body && { body }),
      timeoutMs,
    };
    try {
      return await callJson(dispatcher, request, (answer) => {
        const proof = answer.headers[proofHeader];
        // Nothing of an answer is read before it is known who sent it.
        if (!challenge.isMetBy({ ...answer, method, path }, typeof proof === "string" ? proof : undefined))
          return { kind: "refused", code: notGenuine };
        return readAnswer(answer);
      });
    } catch (error) {
      if (isReset(error)) return "reset";
      return { kind: "unreachable", reason: error instanceof Error ? error.name : "unknown" };
    }
  };

  /** Every call may be repeated: the agent answers the same fence with the same answer. */
  const call = async (wanted: Call): Promise<AgentAnswer> => {
    const first = await callOnce(wanted);
    const agentMs = first !== "reset" && first.kind === "refused" ? first.agentMs : undefined;
    if (agentMs !== undefined) tokens.goBy(wanted.agent.browser, agentMs);
    const answer = first === "reset" || agentMs !== undefined ? await callOnce(wanted) : first;
    return answer === "reset" ? { kind: "unreachable", reason: "reset" } : answer;
  };

  return {
    bind: (lease, body) => call({ method: "PUT", agent: lease, body }),
    end: (lease, reuse) =>
      call({
        method: "DELETE",
        agent: lease,
        body: { session_id: lease.session, epoch: lease.epoch, seq: lease.seq, reuse },
      }),
    afterReset: (agent) => call({ method: "GET", agent, path: "/reset", timeoutMs: resetTimeoutMs }),
    state: (agent, epoch) => call({ method: "GET", agent, path: `/state?epoch=${epoch}` }),
    async learnTime(agent) {
      await call({ method: "GET", agent, path: "/state" });
    },
    close: () => dispatcher.destroy(),
  };
};
