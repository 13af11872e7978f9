import { expect, test } from "vitest";
import { anObserved, aPod, aPool, nowMs, podKinds } from "../../../../test/support/observed-pool.ts";
import type { Observed } from "../observe/observed.ts";
import { deliveries } from "./deliveries.ts";
import { profileRefresh, profileUse } from "./profile-use.ts";

const observed = (known: string | undefined, version: number, spec: object = {}): Observed => {
  const pods = [aPod("a", podKinds.idle), aPod("b", podKinds.leased), aPod("c", podKinds.starting)];
  const { status } = anObserved().pool;
  return anObserved({
    pool: {
      ...aPool({ profile: { name: "work" }, ...spec }),
      status: { ...status, ...(known && { profileVersion: known }) } as NonNullable<typeof status>,
    },
    pods,
    profileVersion: { uid: "profile", name: "work", version, lastUsedMs: 0 },
  });
};

const does = (one: Observed): string[] => profileRefresh(one).map((action) => action.do);

// POOL-PATCH-10, PROFILE-6
test("a new version of the profile replaces what is idle and what starts, and leaves what is in use", () => {
  const actions = profileRefresh(observed("profile/1", 2));
  expect(actions).toMatchObject([
    { do: "retire", ids: ["a"], count: 1, why: "ProfileUpdated" },
    { do: "delete", pod: { uid: "c" }, why: "Outdated" },
  ]);
});

// POOL-PATCH-10
test.each<[string, Observed]>([
  ["the version that browsers were refreshed for", observed("profile/2", 2)],
  ["another profile", observed("other/1", 2)],
  ["the first round of a pool", observed(undefined, 2)],
  ["a pool that does not refresh", observed("profile/1", 2, { refreshOnProfileUpdate: false })],
])("%s replaces nothing", (_, one) => {
  expect(does(one)).toEqual([]);
});

test("a browser that waits gets its setup; a failed delivery is told and tried again", () => {
  const waiting = (setup: NonNullable<Observed["pods"][number]["setup"]>) =>
    deliveries(anObserved({ pods: [aPod("a", { ...podKinds.starting, setup })] }), nowMs);
  expect(waiting({ is: "awaited" })).toMatchObject({ actions: [{ do: "deliver" }], requeueAfterMs: 1000 });
  expect(waiting({ is: "claimed" })).toEqual({ actions: [], requeueAfterMs: 1000 });
  expect(waiting({ is: "failed", why: "the store is away" })).toMatchObject({
    actions: [{ do: "note", reason: "SetupFailed", note: "browser pod-a waits: the store is away" }],
  });
  expect(waiting({ is: "delivered" })).toEqual({ actions: [], requeueAfterMs: undefined });
});

// PROFILE-23
test("a browser waits for the save of the one before it, and at last starts with what there is", () => {
  const after = (ageMs: number, awaitsSave = true) =>
    deliveries(
      anObserved({ awaitsSave, pods: [aPod("a", { ...podKinds.starting, ageMs, setup: { is: "awaited" } })] }),
      nowMs,
    );
  expect(after(59_000)).toEqual({ actions: [], requeueAfterMs: 1000 });
  expect(after(59_000, false)).toMatchObject({ actions: [{ do: "deliver" }] });
  expect(after(61_000)).toMatchObject({ actions: [{ do: "deliver" }, { do: "note", reason: "ProfileNotSavedYet" }] });
});

// PROFILE-2
test("a profile is used when a browser has started with it, noted once a minute", () => {
  const uses = (state: "warm" | "known", lastUsedMs: number) =>
    profileUse(
      anObserved({
        pods: [aPod("a", state === "warm" ? { state: { is: "warm" } } : podKinds.idle)],
        profileVersion: { uid: "profile", name: "work", version: 1, lastUsedMs },
      }),
      nowMs,
    ).map((action) => action.do);
  expect(uses("warm", 0)).toEqual(["use"]);
  expect(uses("warm", nowMs - 60_000)).toEqual(["use"]);
  expect(uses("warm", nowMs - 59_000)).toEqual([]);
  expect(uses("known", 0)).toEqual([]);
});
