/** A reader of a project's events, over real HTTP. */
import { ProjectEvent } from "../../src/features/events/event.ts";
import { eventually } from "./eventually.ts";

type Heard = ProjectEvent & {
  /** Of the event of the stream, not of the object. */
  eventId: string | undefined;
};

export type EventsReader = AsyncDisposable & {
  /** All that came so far, each checked by the schema. */
  heard: Heard[];
  /** Waits for an event. */
  until(what: string, isIt: (event: Heard) => boolean): Promise<Heard>;
  /** Resolves with the last event when the service has ended the stream. */
  ended: Promise<string>;
};

type Asked = { url: string; apiKey: string; project?: string; query?: string; lastEventId?: string };

const heardIn = (frame: string): Heard[] => {
  const id = /^id: (.*)$/m.exec(frame)?.[1];
  const data = /^data: (.*)$/m.exec(frame)?.[1];
  if (data === undefined || frame.startsWith("event: error")) return [];
  return [{ ...ProjectEvent.strict().parse(JSON.parse(data)), eventId: id }];
};

/** Resolves when the answer has begun. Throws for another status than 200. */
export const readEvents = async ({ url, apiKey, project, query = "", lastEventId }: Asked): Promise<EventsReader> => {
  const gone = new AbortController();
  const response = await fetch(`${url}/events/stream${query}`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(project !== undefined && { "x-kernel-project-id": project }),
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    },
    signal: gone.signal,
  });
  if (response.status !== 200 || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const heard: Heard[] = [];
  let problem: unknown;
  const read = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
    const decoder = new TextDecoder();
    let rest = "";
    let last = "";
    for await (const chunk of body) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) heard.push(...heardIn(frame));
      last = frames.at(-1) ?? last;
    }
    return last;
  };
  const ended = read(response.body).catch((error: unknown) => {
    if (!gone.signal.aborted) problem = error;
    return "";
  });
  return {
    heard,
    ended,
    until: (what, isIt) =>
      eventually(
        () => `${what}; there were ${heard.map(({ event, kind, id }) => `${event} ${kind} ${id}`).join(", ")}`,
        () => {
          if (problem) throw problem;
          return heard.find(isIt);
        },
      ),
    async [Symbol.asyncDispose]() {
      gone.abort();
      await ended;
    },
  };
};
