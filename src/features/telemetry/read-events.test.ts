import { expect, test } from "vitest";
import type { ServiceDeps } from "../../cmd/service-deps.ts";
import { followEvents } from "./read-events.ts";

/** What of so many events is read, as Redis gives it. */
const deps = ({ kept, last = kept.at(-1) ?? 0, isOver }: { kept: number[]; last?: number; isOver: boolean }) => {
  const state = { left: 0, isOver };
  const event = (seq: number) => ({
    seq,
    ts: 1e15,
    event: JSON.stringify({ category: "page", type: "page_load", ts: 1, source: {}, data: {} }),
  });
  const events = {
    read: async (_session: string, { after = 0, count }: { after?: number; count: number }) => ({
      events: kept
        .filter((seq) => seq > after)
        .slice(0, count)
        .map(event),
      last,
      hasEnded: state.isOver,
    }),
  };
  const watch = { next: async () => ({ last, isOver: state.isOver }), leave: () => void state.left++ };
  const telemetry = { events, watches: { join: () => watch }, collector: { ensure: async () => undefined } };
  return { state, given: { telemetry, store: { config: async () => undefined } } as unknown as ServiceDeps };
};
const lease = {
  session: "s",
  config: "c",
  request: JSON.stringify({
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: "p", uid: "p" },
    project: "o",
  }),
};
const read = async (given: ServiceDeps, after = 0): Promise<(number | string)[]> => {
  const found = { lease, poolUid: "p" } as never;
  const seen: (number | string)[] = [];
  for await (const { seq, event } of await followEvents(found, { after }, given, new AbortController().signal))
    seen.push(event.type === "monitor_events_dropped" ? `dropped to ${seq}` : seq);
  return seen;
};

// TELEMETRY-32
test("a reader that is pages behind when the session has ended gets all of its events, and then the end", async () => {
  const kept = Array.from({ length: 350 }, (_, n) => n + 1);
  const { state, given } = deps({ kept, isOver: true });
  expect(await read(given)).toEqual(kept);
  expect(state.left).toBe(1);
  expect(await read(given, 340)).toEqual(kept.slice(340));
});

test("what is gone is told in its place", async () => {
  const { given } = deps({ kept: [3, 4, 7], isOver: true });
  expect(await read(given)).toEqual(["dropped to 2", 3, 4, "dropped to 6", 7]);
});
