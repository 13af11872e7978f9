import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { BindLease } from "../protocol/agent-api.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import type { Browser, ChangeOutcome } from "./browser.ts";
import { type HeldLease, holdLease } from "./held-lease.ts";
import { createHolderChanges, createHolderOutcome, type FollowOutcome, type LeaseChange } from "./holder-changes.ts";

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
const watcher = () => vi.fn<FollowOutcome>(async (_lease, note) => note(seen));

// LOOKUP-81
test.each([
  ["says nothing of it", {}],
  ["does not allow it", { observe: false }],
])("a session that %s is not watched", (_what, more) => {
  const observe = watcher();
  const observation = createHolderOutcome(observe);
  observation.begin({ ...lease, ...more });
  expect(observe).not.toHaveBeenCalled();
  expect(observation.outcome()).toBeUndefined();
});

test("a session that allows it is watched until its end, and what was seen is told until the next one begins", () => {
  const observe = watcher();
  const observation = createHolderOutcome(observe);
  observation.begin({ ...lease, observe: true });
  expect(observation.outcome()).toMatchObject({ session_id: "s", target: "https://example.com" });
  observation.end();
  expect(observe.mock.calls[0]?.[2].aborted).toBe(true);
  expect(observation.outcome()).toMatchObject({ session_id: "s" });
  observation.begin({ ...lease, session_id: "next" });
  expect(observation.outcome()).toBeUndefined();
});

const archives = {} as ArchiveFolder;
const fills = { begin: () => () => undefined };
const bindOf = (seq: number): BindLease =>
  ({ session_id: `s${seq}`, epoch: 1, seq, timeout_seconds: 10, max_seconds: 3600, request: "old" }) as BindLease;
const changeOf = (seq: number, more: object = {}): LeaseChange =>
  ({ session_id: `s${seq}`, epoch: 1, seq, viewport: { width: 800, height: 600 }, ...more }) as LeaseChange;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A browser whose changes end as the test says, and its lease. */
const started = () => {
  const waiting: PromiseWithResolvers<ChangeOutcome>[] = [];
  const [over, told]: [string[], unknown[]] = [[], []];
  const hold = (seq: number): HeldLease => holdLease(bindOf(seq), (why) => over.push(`s${seq} ${why}`), fills);
  const now: { lease: HeldLease | undefined } = { lease: hold(1) };
  let begun = 0;
  const browser: Pick<Browser, "change"> = {
    change: (_wanted, _archives, onStart) => {
      waiting.push(Promise.withResolvers());
      onStart();
      return waiting.at(-1)?.promise ?? Promise.reject(new Error("none"));
    },
  };
  const opened: (string | undefined)[] = [];
  const changes = createHolderChanges({
    browser,
    open: (url) => void opened.push(url),
    onChange: [
      () => {
        begun += 1;
      },
    ],
    followers: [{ changed: (outcome, restarted) => void told.push([outcome, restarted]) }],
    held: () => now.lease,
    log: createLogger("silent", "test"),
  });
  return { changes, opened, waiting, over, told, hold, now, begun: () => begun };
};

/** All that is ready has run. */
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test.each(["changed", "profile_refused", undefined] as const)(
  "a lease counts as in use while it is changed, and not a moment longer, with the outcome %s",
  async (outcome) => {
    const { changes, waiting, over } = started();
    const changing = changes.change(changeOf(1), archives).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([over, changes.isStarting()]).toEqual([[], true]);
    if (outcome) waiting[0]?.resolve(outcome);
    else waiting[0]?.reject(new Error("no Chromium"));
    const end = await changing;
    expect(outcome ? end : (end as Error).message).toBe(outcome ?? "no Chromium");
    expect(changes.isStarting()).toBe(false);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(over).toEqual(["s1 timeout"]);
  },
);

test("changes are carried out one after the other, also after one that has failed", async () => {
  const { changes, waiting, told } = started();
  const [first, second] = [1, 2].map(() => changes.change(changeOf(1), archives));
  const failed = expect(first).rejects.toThrow("no Chromium");
  await settled();
  expect(waiting).toHaveLength(1);
  waiting[0]?.reject(new Error("no Chromium"));
  await failed;
  await settled();
  waiting[1]?.resolve("changed");
  expect(await second).toBe("changed");
  expect(told).toEqual([
    ["failed", true],
    ["changed", true],
  ]);
});

test("the request of a lease is another one only when the change was carried out", async () => {
  const { changes, waiting, now } = started();
  for (const [place, outcome] of (["profile_refused", "changed"] as const).entries()) {
    const changing = changes.change(changeOf(1, { request: `new ${outcome}` }), archives);
    await settled();
    waiting[place]?.resolve(outcome);
    await changing;
    expect(now.lease?.request.request).toBe(outcome === "changed" ? "new changed" : "old");
  }
});

test("the time without a connection alone is no change of the browser, and counts anew from then on", async () => {
  const { changes, waiting, over, told, now, begun } = started();
  await vi.advanceTimersByTimeAsync(9000);
  const longer = changeOf(1, { viewport: undefined, timeout_seconds: 60, request: "longer" });
  expect(await changes.change(longer)).toBe("changed");
  expect([waiting, told, begun(), now.lease?.request.request]).toEqual([[], [], 0, "longer"]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(over).toEqual([]);
  const goOn = now.lease?.wait();
  await changes.change(changeOf(1, { viewport: undefined, timeout_seconds: 10 }));
  await vi.advanceTimersByTimeAsync(60_000);
  goOn?.();
  await vi.advanceTimersByTimeAsync(9000);
  expect(over).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(over).toEqual(["s1 timeout"]);
  expect(await changes.change(changeOf(2, { viewport: undefined, timeout_seconds: 60 }))).toBe("not_holder");
});

test("a URL is opened once all else has changed, and not by a change that fails", async () => {
  const { changes, opened, waiting, begun } = started();
  const first = changes.change(changeOf(1, { start_url: "https://first.example/" }), archives);
  await settled();
  expect(opened).toEqual([]);
  waiting[0]?.resolve("changed");
  await first;
  expect(opened).toEqual(["https://first.example/"]);
  const failing = changes.change(changeOf(1, { start_url: "https://second.example/" }), archives);
  await settled();
  waiting[1]?.resolve("profile_refused");
  await failing;
  expect([opened.length, begun()]).toEqual([1, 2]);
  await changes.change(changeOf(1, { viewport: undefined, start_url: "https://third.example/" }));
  expect([opened.at(-1), begun()]).toEqual(["https://third.example/", 2]);
});

test("a lease that has ended meanwhile learns nothing, and the next one is none of it", async () => {
  const { changes, waiting, told, hold, now, begun } = started();
  const changing = changes.change(changeOf(1, { request: "new" }), archives);
  await settled();
  now.lease?.cut();
  now.lease = hold(2);
  waiting[0]?.resolve("changed");
  expect(await changing).toBe("not_holder");
  expect([told, now.lease.request.request]).toEqual([[], "old"]);
  expect([await changes.change(changeOf(1), archives), changes.prepare(changeOf(1)), begun()]).toEqual([
    "not_holder",
    false,
    1,
  ]);
  expect([changes.prepare(changeOf(2)), begun()]).toEqual([true, 2]);
});
