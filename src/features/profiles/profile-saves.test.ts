import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { type ProfileSavesDeps, startProfileSaves } from "./profile-saves.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const metadata = { name: "pod", namespace: "a", uid: "pod-uid", labels: { "browserpool.dev/pool": "owner" } };
const pod = { metadata, status: { podIP: "127.0.0.9" } } as unknown as Pod;
const key = "a/pod";

type Client = ProfileSavesDeps["client"];
const ok = { kind: "ok" } as const;
const away = { kind: "unreachable", reason: "no answer" } as const;

/** A queue whose agents give these answers in turn, the last one again and again; nothing is ever fetched. */
const savesWith = (answers: { state?: unknown[]; done?: unknown[] }) => {
  const nextOf = (list: unknown[] = []) => vi.fn(async () => (list.length > 1 ? list.shift() : list[0]));
  const client = { state: nextOf(answers.state), done: nextOf(answers.done) };
  const lead = { signal: new AbortController().signal, check: () => undefined };
  const deps = { client: client as unknown as Client, lead, log: createLogger("silent", "test") };
  return { client, saves: startProfileSaves(deps as unknown as ProfileSavesDeps) };
};
const stateIs = (state: object) => ({ ...ok, state });

// PROFILE-21
test("an agent is asked until there is an outcome, which is told once", async () => {
  const { client, saves } = savesWith({ state: [away, stateIs({ is: "packing" }), stateIs({ is: "unused" })] });
  const told: string[] = [];
  saves.onChange((owner) => told.push(owner));
  expect(saves.collect(pod)).toEqual({ is: "waiting" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([client.state.mock.calls.length, told, saves.stateOf(key)]).toEqual([3, ["owner"], { is: "unused" }]);
  expect(saves.isSettled(key)).toBe(true);
  saves.forget(key);
  expect(saves.stateOf(key)).toBeUndefined();
  await saves.stop();
});

test("an agent that misses the word that it may end is told again until it answers", async () => {
  const { client, saves } = savesWith({ state: [stateIs({ is: "unused" })], done: [away, away, ok] });
  saves.collect(pod);
  await vi.advanceTimersByTimeAsync(100);
  saves.release(pod);
  saves.release(pod);
  await vi.advanceTimersByTimeAsync(100);
  expect(client.done).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(client.done).toHaveBeenCalledTimes(3);
  expect(client.state).toHaveBeenCalledTimes(1);
  await saves.stop();
});
