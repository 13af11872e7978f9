import { expect, test, vi } from "vitest";
import type { Session } from "../model/sessions/session-wire.ts";
import { answerHeld, startSession } from "./start-session.ts";

const owner = { poolUid: "pool", session: "s" };
const session = { session_id: "s" } as Session;

/**
 * Parts of the service that note what they are told; `taken`: another session has got the name, from the second look
 * on.
 */
const parts = ({ taken = false } = {}) => {
  let looks = 0;
  const reserve = vi.fn(async () => {
    looks += 1;
    return !(taken && looks > 1);
  });
  const free = vi.fn(async () => undefined);
  const abandon = vi.fn();
  const collect = vi.fn();
  const collecting = { telemetry: { collector: { collect } }, config: { keptFiles: { seconds: 0 } } };
  const deps = { names: { reserve, free }, abandonedSessions: { add: abandon }, ...collecting };
  return { deps: deps as never, free, abandon, collect };
};

// LEASE-5
test("a caller who is gone when the answer is made leaves no browser behind, and one whose answer fails neither", async () => {
  const gone = parts();
  const stop = new AbortController();
  stop.abort(new Error("the caller has hung up"));
  await expect(answerHeld(Promise.resolve(session), owner, gone.deps, stop.signal)).rejects.toThrow("hung up");
  expect(gone.abandon).toHaveBeenCalledWith("pool", "s");
  const failed = parts();
  const { signal } = new AbortController();
  await expect(answerHeld(Promise.reject(new Error("no answer")), owner, failed.deps, signal)).rejects.toThrow();
  expect(failed.abandon).toHaveBeenCalledTimes(1);
  const well = parts();
  expect(await answerHeld(Promise.resolve(session), owner, well.deps, signal)).toBe(session);
  expect(well.abandon).not.toHaveBeenCalled();
});

const handed = (
  { deps }: ReturnType<typeof parts>,
  acquire: () => Promise<Session | undefined>,
  signal = new AbortController().signal,
) => startSession({ owner, name: "mine", project: { id: "o" } as never }, acquire, deps, signal);

test("a name is free again when there is no browser for it, or another session has got it meanwhile", async () => {
  const none = parts();
  expect(await handed(none, async () => undefined)).toBeUndefined();
  expect([none.free.mock.calls.length, none.abandon.mock.calls.length]).toEqual([1, 0]);
  const late = parts({ taken: true });
  await expect(handed(late, async () => session)).rejects.toMatchObject({ code: "name_taken" });
  expect([late.free.mock.calls.length, late.abandon.mock.calls.length]).toEqual([1, 1]);
});

test("a caller who hangs up while its browser is acquired leaves neither it nor the name, and may give both back later", async () => {
  const gone = parts();
  const stop = new AbortController();
  const acquire = async () => {
    stop.abort(new Error("the caller has hung up"));
    return session;
  };
  await expect(handed(gone, acquire, stop.signal)).rejects.toThrow("hung up");
  expect([gone.free.mock.calls.length, gone.abandon.mock.calls.length]).toEqual([1, 1]);
  const well = parts();
  const out = await handed(well, async () => session);
  expect(out?.session).toBe(session);
  expect([well.free.mock.calls.length, well.abandon.mock.calls.length]).toEqual([0, 0]);
  out?.abandon();
  expect([well.free.mock.calls.length, well.abandon.mock.calls.length]).toEqual([1, 1]);
});
