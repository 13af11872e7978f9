import { Agent } from "undici";
import { z } from "zod";
import { type AgentPlace, type Called, createCallAgent } from "../../core/leases/agent/agent-call.ts";
import { AgentStreamBroken, type AgentStreams } from "../../core/leases/agent/agent-stream.ts";
import { createPieceOpener } from "../../core/leases/agent/open-pieces.ts";
import type { SetupClientDeps } from "../../core/leases/agent/setup-client.ts";
import { pieceContext, type RecordingEnd, RecordingLine, RecordingStarted, type StartRecording } from "./agent/api.ts";

/** Deadline for a connection and for a call, ms: an agent waits two seconds for the first picture. */
const connectMs = 2000;
const callTimeoutMs = 10_000;

/** Largest answer that is read, bytes. */
const maxAnswerBytes = 16 * 1024;

/** The recording of a session. */
type RecordingName = { session: string; id: string };

/** A piece of the video, in order, or its end. */
export type RecordingPiece = { bytes: Buffer } | { end: RecordingEnd; frames: number; dropped: number };

/**
 * Calls to an agent that records its browser (features/recordings/agent/api.ts). None but the reader of a video throws.
 */
export type RecordingClient = {
  start(agent: AgentPlace, id: string, wanted: StartRecording): Promise<Called<RecordingStarted>>;
  stop(agent: AgentPlace, name: RecordingName): Promise<Called<object>>;
  /** The video is stored: the agent may forget it. */
  stored(agent: AgentPlace, name: RecordingName): Promise<Called<object>>;
  /**
   * The video after so many bytes, as it grows. Reading it throws `AgentStreamBroken`, also for pieces that the agent
   * has not sealed for this place, or the reason of the signal.
   */
  read(
    agent: AgentPlace,
    name: RecordingName & { after: number },
    signal: AbortSignal,
  ): Promise<Called<{ pieces: AsyncIterable<RecordingPiece> }>>;
  close(): Promise<void>;
};

const pathOf = ({ session, id }: RecordingName, more = ""): string =>
  `/replays/${id}?session=${encodeURIComponent(session)}${more}`;

/** `streams`: of the same process. The caller must call `close`. */
export const createRecordingClient = (deps: SetupClientDeps, streams: Pick<AgentStreams, "open">): RecordingClient => {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    connections: 2,
    maxResponseSize: maxAnswerBytes,
  });
  const call = createCallAgent(dispatcher, deps);
  const end = (agent: AgentPlace, path: string): Promise<Called<object>> =>
    call({
      method: "DELETE",
      agent,
      path,
      timeoutMs: callTimeoutMs,
      read: (answer) => z.looseObject({}).parse(answer),
    });

  const piecesOf = async function* (
    lines: AsyncIterable<unknown>,
    { session, id, after }: RecordingName & { after: number },
    agent: AgentPlace,
  ): AsyncGenerator<RecordingPiece> {
    const open = createPieceOpener({
      key: deps.keys.keyOf(agent.pod),
      contextOf: (offset) => pieceContext(session, id, offset),
      from: after,
      what: "a recording",
    });
    for await (const line of lines) {
      const { data } = RecordingLine.safeParse(line);
      if (!data) throw new AgentStreamBroken("a line of a recording is none");
      if ("end" in data) {
        yield data;
        continue;
      }
      yield { bytes: open(data.piece) };
    }
  };
  return {
    start: (agent, id, wanted) =>
      call({
        method: "PUT",
        agent,
        path: `/replays/${id}`,
        body: () => wanted,
        timeoutMs: callTimeoutMs,
        read: (answer) => RecordingStarted.parse(answer),
      }),
    stop: (agent, name) => end(agent, pathOf(name)),
    stored: (agent, name) => end(agent, pathOf(name, "&stored=true")),
    async read(agent, name, signal) {
      const opened = await streams.open(agent, pathOf(name, `&after=${name.after}`), signal);
      return opened.kind === "ok" ? { kind: "ok", pieces: piecesOf(opened.lines, name, agent) } : opened;
    },
    close: () => dispatcher.destroy(),
  };
};
