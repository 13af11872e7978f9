import { expect, test } from "vitest";
import { createSessionWatches } from "./session-watch.ts";

const collected = { session: "s", poolUid: "p" };
const { signal } = new AbortController();

/** Watches of a session whose events this test counts. */
const watching = () => {
  const state = { last: 0, hasEnded: false, reads: 0 };
  const events = {
    read: async () => {
      state.reads += 1;
      return { events: [], last: state.last, hasEnded: state.hasEnded };
    },
  };
  const deps = {
    events,
    claims: { isClaimed: async () => true },
    store: { lease: async () => ({ session: "s" }), endedLease: async () => undefined },
    pools: { list: () => [] },
    browsers: { list: () => [] },
  };
  return { state, watches: createSessionWatches(deps as never) };
};

// TELEMETRY-32
test("readers that share a loop, and one that comes when all others have left, hear of new events and of the end", async () => {
  const { state, watches } = watching();
  const [one, two] = [watches.join(collected), watches.join(collected)];
  state.last = 3;
  expect(await Promise.all([one.next(0, signal), two.next(2, signal)])).toEqual([
    { last: 3, isOver: false },
    { last: 3, isOver: false },
  ]);
  for (const reader of [one, two]) reader.leave();
  const later = watches.join(collected);
  state.last = 4;
  expect(await later.next(3, signal)).toEqual({ last: 4, isOver: false });
  state.hasEnded = true;
  expect(await later.next(4, signal)).toEqual({ last: 4, isOver: true });
  later.leave();
});

test("nobody looks when all have left, and who stops waiting hears why", async () => {
  const { state, watches } = watching();
  const reader = watches.join(collected);
  const stop = new AbortController();
  const waits = reader.next(0, stop.signal);
  stop.abort(new Error("the caller is gone"));
  await expect(waits).rejects.toThrow("the caller is gone");
  reader.leave();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { reads } = state;
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(state.reads).toBe(reads);
});
