import { Agent } from "undici";
import { AgentState, type BindLease, type EndLease, type Reuse } from "../../protocol/agent-api.ts";
import type { CaptureChange } from "../../protocol/telemetry-api.ts";
import type { LeaseRecord } from "../records.ts";
import { type AgentCall, type AgentCallDeps, type AgentPlace, type Called, createCallAgent } from "./agent-call.ts";

/** Deadline of one call to an agent, ms: the agent waits up to 2 s for Chromium, and a margin. */
const callTimeoutMs = 3000;

/** Deadline for a connection to an agent, ms, where a caller waits for it: then the next browser is tried. */
export const quickConnectMs = 300;

/** Deadline of the wait for a reset, ms: the agent gives one up after 40 s. */
const resetTimeoutMs = 45_000;

/**
 * Largest answer that is read, bytes. A state with the longest request of a lease, every character escaped, is smaller.
 */
const maxAnswerBytes = 1024 * 1024;

/** The agent's state, or why there is none. */
export type AgentAnswer = Called<{ state: AgentState }>;

/** A lease as its agent knows it. */
export type LeaseAtAgent = AgentPlace & Pick<LeaseRecord, "session" | "epoch" | "seq">;

/** Calls to agents. None throws. */
export type AgentClient = {
  bind(lease: LeaseRecord, body: BindLease): Promise<AgentAnswer>;
  /** `reuse`: what becomes of the browser. The answer's state tells whether the agent is resetting it. */
  end(lease: LeaseAtAgent, reuse: Reuse): Promise<AgentAnswer>;
  /** Waits until the browser is no longer being reset: `ok` when it is up. `timings`: the answer is to have them. */
  afterReset(agent: AgentPlace, asked?: { timings?: true }): Promise<AgentAnswer>;
  /** What of the holder's session is captured from now on. */
  capture(lease: LeaseAtAgent, telemetry: CaptureChange["telemetry"]): Promise<AgentAnswer>;
  /** The agent's state. From then on the agent refuses binds of epochs below this one. */
  state(agent: AgentPlace, epoch: number): Promise<AgentAnswer>;
  /**
   * Makes sure that the agent takes the next token, if this process' clock is what it refused (`AgentTokens.goBy`). For
   * upgrades, which this client does not make.
   */
  learnTime(agent: AgentPlace): Promise<void>;
  close(): Promise<void>;
};

const read = (answer: unknown): { state: AgentState } => ({ state: AgentState.parse(answer) });

/**
 * `keepAliveMs`: how long an unused connection stays open; left out, 30 s, which suits a process that calls the same
 * agent again and again. `connectMs`: the deadline for a connection; left out, that of the call.
 */
export const createAgentClient = (
  deps: AgentCallDeps,
  { keepAliveMs = 30_000, connectMs = callTimeoutMs }: { keepAliveMs?: number; connectMs?: number } = {},
): AgentClient => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    keepAliveTimeout: keepAliveMs,
    // Else the time that the agent's server tells counts, however long it is.
    keepAliveMaxTimeout: keepAliveMs,
    connections: 8,
    maxResponseSize: maxAnswerBytes,
  });

  const callAgent = createCallAgent(dispatcher, deps);
  const call = ({
    method,
    agent,
    path = "/lease",
    body,
    timeoutMs = callTimeoutMs,
  }: Pick<AgentCall<object>, "method" | "agent"> & {
    path?: string;
    body?: BindLease | EndLease | CaptureChange;
    timeoutMs?: number;
  }): Promise<AgentAnswer> => callAgent({ method, agent, path, body: body && (() => body), timeoutMs, read });

  return {
    bind: (lease, body) => call({ method: "PUT", agent: lease, body }),
    end: (lease, reuse) =>
      call({
        method: "DELETE",
        agent: lease,
        body: { session_id: lease.session, epoch: lease.epoch, seq: lease.seq, reuse },
      }),
    capture: (lease, telemetry) =>
      call({
        method: "PUT",
        agent: lease,
        path: "/telemetry",
        body: { session_id: lease.session, epoch: lease.epoch, seq: lease.seq, telemetry },
      }),
    afterReset: (agent, { timings } = {}) =>
      call({ method: "GET", agent, path: timings ? "/reset?timings=true" : "/reset", timeoutMs: resetTimeoutMs }),
    state: (agent, epoch) => call({ method: "GET", agent, path: `/state?epoch=${epoch}` }),
    async learnTime(agent) {
      await call({ method: "GET", agent, path: "/state" });
    },
    close: () => dispatcher.destroy(),
  };
};
