import { Agent, request } from "undici";
import { AgentState, type BindLease, type EndLease } from "../agent/protocol.ts";
import type { AgentTokens } from "../tokens/agent-token.ts";
import type { LeaseRecord } from "./records.ts";

/** Deadline of one call to an agent, ms: its own deadline for Chromium's answer (2 s) and a margin. */
const callTimeoutMs = 3000;

/** What came of a call. `refused`: the agent answered no, with its code; `unreachable`: no answer in time. */
export type AgentAnswer =
  | { kind: "ok"; state: AgentState }
  | { kind: "refused"; code: string }
  | { kind: "unreachable"; reason: string };

/** Calls to agents. None throws. */
export type AgentClient = {
  bind(lease: LeaseRecord, body: BindLease): Promise<AgentAnswer>;
  end(lease: LeaseRecord): Promise<AgentAnswer>;
  close(): Promise<void>;
};

type Call = { method: "PUT" | "DELETE"; address: string; podUid: string; body: BindLease | EndLease };

/** `tokens`: signs what agents ask of their callers. Keeps connections alive between calls. */
export const createAgentClient = (tokens: AgentTokens): AgentClient => {
  const dispatcher = new Agent({ connect: { timeout: callTimeoutMs }, keepAliveTimeout: 30_000, connections: 8 });

  const call = async ({ method, address, podUid, body }: Call): Promise<AgentAnswer> => {
    try {
      const response = await request(`http://${address}/lease`, {
        dispatcher,
        method,
        headers: { authorization: `Bearer ${await tokens.tokenFor(podUid)}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        // undici closes a connection after a DELETE with a body, which not every server reads; agents do.
        reset: false,
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      const answer = (await response.body.json()) as { code?: string };
      if (response.statusCode === 200) return { kind: "ok", state: AgentState.parse(answer) };
      return { kind: "refused", code: answer.code ?? `http_${response.statusCode}` };
    } catch (error) {
      return { kind: "unreachable", reason: error instanceof Error ? error.name : "unknown" };
    }
  };

  return {
    bind: (lease, body) => call({ method: "PUT", address: lease.address, podUid: lease.browser, body }),
    end: (lease) =>
      call({
        method: "DELETE",
        address: lease.address,
        podUid: lease.browser,
        body: { session_id: lease.session, epoch: lease.epoch, seq: lease.seq },
      }),
    close: () => dispatcher.destroy(),
  };
};
