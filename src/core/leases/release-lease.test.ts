import { expect, test, vi } from "vitest";
import { unavailable } from "../../platform/base/errors.ts";
import type { AnyLease } from "./records.ts";
import { type ReleaseDeps, releaseLease } from "./release-lease.ts";

const lease = { session: "s", browser: "b", epoch: 1, seq: 2 } as AnyLease;

/** A release whose calls to Redis answer like this, one after the other; an error is thrown. */
const release = async (answers: unknown[], { ended }: { ended?: AnyLease } = {}) => {
  const store = {
    release: vi.fn(async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }),
    endedLease: vi.fn(async () => ended),
    offer: vi.fn(async () => undefined),
  };
  const agents = { end: vi.fn(async () => ({ kind: "ok", state: { resetting: true } })) };
  const returningBrowsers = { add: vi.fn() };
  const deps = { store, agents, returningBrowsers } as unknown as ReleaseDeps;
  const released = await releaseLease({ poolUid: "pool", session: "s", reuse: "reset", reason: "released" }, deps);
  return { released, agents, returningBrowsers, store };
};

test("a release of which only the answer was lost cuts the holder's sockets all the same", async () => {
  const { released, agents, returningBrowsers } = await release([unavailable("Redis"), undefined], { ended: lease });
  expect(released).toBe(lease);
  expect(agents.end).toHaveBeenCalledWith(lease, "reset");
  expect(returningBrowsers.add).toHaveBeenCalledWith("pool", lease);
});

test("a session that is not held is not released, though it is kept as ended: somebody else has ended it", async () => {
  const { released, agents, store } = await release([undefined], { ended: lease });
  expect(released).toBeUndefined();
  expect(agents.end).not.toHaveBeenCalled();
  expect(store.endedLease).not.toHaveBeenCalled();
});
