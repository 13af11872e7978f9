/**
 * Answers of an agent that go on: lines of JSON as they come, each the text of one object.
 *
 *   head with the proof ──► line ──► line ──► … ──► end of the answer: all was said
 *                            │
 *                            └─ an empty line after 10 s without one: the agent lives
 *
 * The proof is in the head, over an empty body, as that of an upgrade is (ADR 0044). An answer that breaks off has no
 * end, which its reader notices. A reader that takes nothing costs one line and the socket's buffer, and is cut after a
 * minute.
 */
import type { ServerResponse } from "node:http";
import { whenClosed } from "../../platform/net/when-closed.ts";
import { pause, withPauses } from "../../platform/net/with-pauses.ts";
import { writeText } from "../../platform/net/write-text.ts";

/**
 * Time without a line after which an empty one is sent, ms. Readers give up after three of them
 * (core/leases/agent/agent-stream.ts).
 */
const heartbeatMs = 10_000;

/** How long a reader may take nothing, ms: longer than the API waits for its own reader. */
const stalledMs = 60_000;

/** Streams at once: some readers of each kind, and far fewer than the agent has sockets. */
const maxStreams = 16;

/**
 * Further streams for the service itself, which no number of readers keeps away: events, recordings, and what sessions
 * have left.
 */
const reservedStreams = 8;

/**
 * An answer of lines. `lines`: made when the answer begins; it must end when the signal is aborted, and its objects
 * must be JSON. `isReserved`: it is read by the service itself.
 */
export type AgentLines = {
  status: 200;
  lines(signal: AbortSignal): AsyncIterable<object>;
  isReserved?: boolean;
};

export type LineStreams = {
  isFull(reply: AgentLines): boolean;
  /** Sends the lines as the body of a response whose head is set. Never throws. */
  send(response: ServerResponse, reply: AgentLines): void;
  /** Breaks all of them off. */
  end(): void;
};

const textsOf = async function* (lines: AsyncIterable<object>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of withPauses(lines, heartbeatMs, signal))
    yield line === pause ? "\n" : `${JSON.stringify(line)}\n`;
};

/** The streams of one server. */
export const createLineStreams = (): LineStreams => {
  const open = new Set<AbortController>();
  const run = async (response: ServerResponse, { lines }: AgentLines, gone: AbortController): Promise<void> => {
    try {
      // The caller learns at once whom it has reached.
      response.flushHeaders();
      await writeText(response, textsOf(lines(gone.signal), gone.signal), { stalledMs, signal: gone.signal });
      response.end();
    } catch {
      response.destroy();
    }
  };
  return {
    isFull: ({ isReserved = false }) => open.size >= maxStreams + (isReserved ? reservedStreams : 0),
    send(response, reply) {
      const gone = new AbortController();
      open.add(gone);
      whenClosed(response, () => {
        open.delete(gone);
        gone.abort();
      });
      void run(response, reply, gone);
    },
    end() {
      for (const gone of open) gone.abort();
    },
  };
};
