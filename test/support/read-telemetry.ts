/** Reads the events of a session from an agent, as an API replica does. */
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { TelemetryRecord } from "../../src/features/telemetry/telemetry-event.ts";
import type { TestAgent } from "./agent-process.ts";
import { eventually } from "./eventually.ts";

export type ReadTelemetry = {
  /** What has come so far; each event is of the schema. */
  records: TelemetryRecord[];
  /** Waits for an event. */
  until(what: string, found: (event: TelemetryRecord["event"]) => boolean): Promise<TelemetryRecord["event"]>;
  /** Resolves when the agent has ended the stream. */
  ended: Promise<void>;
  stop(): void;
};

/** Opens the stream of a session's events after a number. Throws when the agent refuses. */
export const readTelemetry = async (agent: TestAgent, session: string, after = 0): Promise<ReadTelemetry> => {
  const stopped = new AbortController();
  const authorization = `Bearer ${createAgentTokens(agent.privateKey).tokenFor(agent.podUid)}`;
  const response = await fetch(`${agent.baseUrl}/telemetry?session=${session}&after=${after}`, {
    headers: { authorization },
    signal: stopped.signal,
  });
  if (response.status !== 200 || !response.body) throw new Error(`the agent answers ${response.status}`);
  const records: TelemetryRecord[] = [];
  let problem: unknown;
  const read = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") records.push(TelemetryRecord.parse(JSON.parse(line)));
    }
  };
  const ended = read(response.body).catch((error: unknown) => {
    if (!stopped.signal.aborted) problem = error;
  });
  return {
    records,
    until: (what, found) =>
      eventually(`${what}; there were ${records.map(({ event }) => event.type).join(" ")}`, async () => {
        if (problem) throw problem;
        return records.map(({ event }) => event).find(found);
      }),
    ended,
    stop: () => stopped.abort(),
  };
};
