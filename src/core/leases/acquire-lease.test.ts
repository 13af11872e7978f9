import { expect, test, vi } from "vitest";
import { unavailable } from "../../platform/base/errors.ts";
import { createLogger } from "../../platform/base/log.ts";
import { type AcquireDeps, acquireLease } from "./acquire-lease.ts";
import type { Wake } from "./grants.ts";
import type { LeaseRecord } from "./records.ts";

const leaseOf = (seq: number): LeaseRecord =>
  ({ session: "s", browser: `b${seq}`, epoch: 1, seq, ticket: "7", request: "{}" }) as LeaseRecord;
const granted = (seq: number) => ({ kind: "granted", lease: leaseOf(seq) });
const holds = (seq: number) => ({ kind: "ok", state: { lease: { session_id: "s", epoch: 1, seq } } });
const refuses = { kind: "refused", code: "stale_fence" };

/** Answers one after the other; an error is thrown. */
const inTurn = (...answers: unknown[]) =>
  vi.fn(async (..._asked: unknown[]) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return answer;
  });

type Played = { take?: unknown[]; reject?: unknown[]; cancel?: unknown[]; bind?: unknown[]; wakes?: Wake[] };

/** An acquire with so much time, ms, whose Redis and agents answer like this. */
const acquire = async ({ take = [], reject = [], cancel = [], bind = [], wakes = [] }: Played, waitMs = 60_000) => {
  const store = { take: inTurn(...take), reject: inTurn(...reject), cancel: inTurn(...cancel) };
  const agents = { bind: inTurn(...bind) };
  const abandoned = vi.fn();
  const stop = vi.fn();
  const next = async (signal: AbortSignal): Promise<Wake> => {
    const wake = wakes.shift();
    if (wake) return wake;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    throw new Error("not reached");
  };
  const deps = {
    ...{ store, agents, abandonedSessions: { add: abandoned }, log: createLogger("silent", "test") },
    grants: { follow: async () => undefined, channel: () => "c", listen: () => ({ next, stop }) },
  } as unknown as AcquireDeps;
  const request = { timeout_seconds: 60 } as never;
  const wanted = { poolUid: "pool", session: "s", request, waitMs, mostWaiting: 3 };
  const ended = await acquireLease(wanted, deps, new AbortController().signal).catch((error: unknown) => error);
  expect(stop).toHaveBeenCalledTimes(1);
  return { ended, store, abandoned };
};
const waiting = { kind: "waiting", ticket: "7" };

// LEASE-42
test("a browser that is granted at the moment when the caller's time is up is handed out", async () => {
  const { ended, abandoned } = await acquire({ take: [waiting], cancel: [granted(2)], bind: [holds(2)] }, 20);
  expect(ended).toEqual({ kind: "held", lease: leaseOf(2) });
  expect(abandoned).not.toHaveBeenCalled();
});

test("who has waited in vain has left the queue, also when Redis did not answer at first", async () => {
  const cancel = [unavailable("Redis"), { kind: "cancelled" }];
  const { ended, store } = await acquire({ take: [waiting], cancel }, 20);
  expect([ended, store.cancel.mock.calls.length]).toEqual([{ kind: "timeout" }, 2]);
});

// LEASE-39
test("a caller whose grant Redis has lost takes again with its ticket, and keeps its place", async () => {
  const { ended, store } = await acquire({
    take: [granted(1), granted(2)],
    reject: [{ kind: "unknown" }],
    bind: [refuses, holds(2)],
  });
  expect(ended).toMatchObject({ kind: "held" });
  const tickets = store.take.mock.calls.map(([, asked]) => (asked as { ticket?: string }).ticket);
  expect(tickets).toEqual([undefined, "7"]);
});

test("a message that grants a lease which the agent has refused is passed over", async () => {
  const { ended } = await acquire({
    take: [granted(1)],
    reject: [waiting],
    bind: [refuses, holds(2)],
    wakes: [granted(1) as Wake, granted(2) as Wake],
  });
  expect(ended).toEqual({ kind: "held", lease: leaseOf(2) });
});

test("a caller that gets an error keeps no place and no browser", async () => {
  const { ended, abandoned } = await acquire({ take: [new Error("broken")] });
  expect(ended).toMatchObject({ message: "broken" });
  expect(abandoned).toHaveBeenCalledWith("pool", "s");
});
