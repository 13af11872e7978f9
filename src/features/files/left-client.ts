import { Agent } from "undici";
import { z } from "zod";
import { type AgentPlace, type Called, createCallAgent } from "../../core/leases/agent/agent-call.ts";
import { AgentStreamBroken, type AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import { createPieceOpener } from "../../core/leases/agent/open-pieces.ts";
import type { SetupClientDeps } from "../../core/leases/agent/setup-client.ts";
import { LeftLine, leftContext, leftPath } from "./agent/api.ts";

/** Deadline for a connection and for a call, ms. */
const connectMs = 2000;
const callTimeoutMs = 10_000;

/** Largest answer that is read, bytes. */
const maxAnswerBytes = 16 * 1024;

/** What a session has left: whether there is anything, then its bytes in order. */
export type LeftPiece = { bytes: Buffer } | Exclude<LeftLine, { piece: string }>;

/** Calls to an agent that keeps what sessions have left (agent/api.ts). None but the reader throws. */
export type LeftClient = {
  /**
   * Waits for the session's end, then reads what it has left. Reading it throws `AgentStreamBroken`, also for pieces
   * that the agent has not sealed for this place, or the reason of the signal.
   */
  read(agent: AgentPlace, session: string, signal: AbortSignal): Promise<Called<{ pieces: AsyncIterable<LeftPiece> }>>;
  /** It is stored: the agent may forget it. */
  stored(agent: AgentPlace, session: string): Promise<Called<object>>;
  close(): Promise<void>;
};

/** `streams`: of the same process. The caller must call `close`. */
export const createLeftClient = (deps: SetupClientDeps, streams: Pick<AgentStreams, "open">): LeftClient => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    connections: 2,
    maxResponseSize: maxAnswerBytes,
  });
  const call = createCallAgent(dispatcher, deps);
  const piecesOf = async function* (
    lines: AsyncIterable<unknown>,
    session: string,
    agent: AgentPlace,
  ): AsyncGenerator<LeftPiece> {
    const open = createPieceOpener({
      key: deps.keys.keyOf(agent.pod),
      contextOf: (offset) => leftContext(session, offset),
      from: 0,
      what: "a session's files",
    });
    for await (const line of lines) {
      const { data } = LeftLine.safeParse(line);
      if (!data) throw new AgentStreamBroken("a line of a session's files is none");
      if (!("piece" in data)) {
        yield data;
        continue;
      }
      yield { bytes: open(data.piece) };
    }
  };
  return {
    async read(agent, session, signal) {
      const opened = await streams.open(agent, leftPath(session), signal);
      return opened.kind === "ok" ? { kind: "ok", pieces: piecesOf(opened.lines, session, agent) } : opened;
    },
    stored: (agent, session) =>
      call({
        method: "DELETE",
        agent,
        path: leftPath(session),
        timeoutMs: callTimeoutMs,
        read: (answer) => z.looseObject({}).parse(answer),
      }),
    close: () => dispatcher.destroy(),
  };
};
