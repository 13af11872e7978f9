import { expect, test, vi } from "vitest";
import type { BindLease } from "../protocol/agent-api.ts";
import { createHolderObservation, type ObserveSession } from "./holder-observation.ts";

const lease: BindLease = {
  session_id: "s",
  epoch: 1,
  seq: 1,
  timeout_seconds: 60,
  max_seconds: 3600,
  request: "{}",
};
const seen = { target: "https://example.com", verdict: "reached" } as never;

/** Watches, and tells at once what it has seen. */
const watcher = () => vi.fn<ObserveSession>(async (_lease, note) => note(seen));

// LOOKUP-81
test.each([
  ["says nothing of it", {}],
  ["does not allow it", { observe: false }],
])("a session that %s is not watched", (_what, more) => {
  const observe = watcher();
  const observation = createHolderObservation(observe);
  observation.begin({ ...lease, ...more });
  expect(observe).not.toHaveBeenCalled();
  expect(observation.outcome()).toBeUndefined();
});

test("a session that allows it is watched until its end, and what was seen is told until the next one begins", () => {
  const observe = watcher();
  const observation = createHolderObservation(observe);
  observation.begin({ ...lease, observe: true });
  expect(observation.outcome()).toMatchObject({ session_id: "s", target: "https://example.com" });
  observation.end();
  expect(observe.mock.calls[0]?.[2].aborted).toBe(true);
  expect(observation.outcome()).toMatchObject({ session_id: "s" });
  observation.begin({ ...lease, session_id: "next" });
  expect(observation.outcome()).toBeUndefined();
});
