import { describe, expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import { BrowserSpec } from "../../model/browsers/browser.ts";
import { Autoscale } from "../../model/pools/autoscale.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { SessionUse } from "../../model/sessions/session-room.ts";
import { onDemandView } from "../on-demand/browser-as-pool.ts";
import { browserRefusal, type RefusalInput, refusalOf, roomFor } from "./refusal.ts";

const limits = { pooledSessions: 10, blankBrowsers: 10, fillRatePerMinute: 25 };
const sessionLimits = { pooledSessions: 10, onDemandSessions: 2, projectOnDemandSessions: 1 };
const noUse: SessionUse = {
  cap: undefined,
  inProject: { pooled: 0, onDemand: 0 },
  onDemandInAll: 0,
  limits: sessionLimits,
};
const born = (
  uid: string,
  second: number,
  more: Partial<BrowserPool["metadata"]> = {},
): Partial<BrowserPool["metadata"]> => ({
  uid,
  name: uid,
  creationTimestamp: `2030-01-01T00:00:0${second}Z`,
  ...more,
});
const refused = (pool: BrowserPool, others: BrowserPool[] = [], more: Partial<RefusalInput> = {}) =>
  refusalOf({
    pool,
    pools: [pool, ...others],
    acceptedSizes: new Map(),
    limits,
    use: noUse,
    objects: {},
    features: ["network", "chrome_policy"],
    ...more,
  });

// HTTP-30
test.each<[string, object, string]>([
  ["network rules", { network: { allowedHosts: ["a.test"] } }, "spec.network: "],
  ["a policy", { chromePolicy: { HomepageLocation: "x" } }, "spec.chromePolicy: "],
  ["much memory", { memory: "16GiB" }, "spec.memory: "],
])("%s are refused where browsers can't be given them, and accepted where they can", (_, spec, path) => {
  const refusal = refused(aPool(spec), [], { features: [] });
  expect(refusal).toMatchObject({ reason: "NotSupportedHere", message: expect.stringContaining(path) });
  expect(refused(aPool(spec), [], { features: ["network", "chrome_policy", "memory_16GiB"] })).toBeUndefined();
});

describe("a name", () => {
  const older = aPool({ name: "shared" }, undefined, born("a", 1));
  const younger = aPool({ name: "shared" }, undefined, born("b", 2));

  // HTTP-16
  test("belongs to the older of two pools", () => {
    expect(refused(younger, [older])).toEqual({
      reason: "NameTaken",
      message: "spec.name: shared is the name of pool a",
    });
    expect(refused(older, [younger])).toBeUndefined();
  });

  test("of two pools of the same second belongs to one of them", () => {
    const twin = aPool({ name: "shared" }, undefined, born("c", 1));
    expect([refused(twin, [older])?.reason, refused(older, [twin])?.reason]).toEqual(["NameTaken", undefined]);
  });

  test("of two pools of the same second stays with the one that was accepted before", () => {
    const twin = aPool({ name: "shared" }, { acceptedSize: 1 }, born("c", 1));
    expect(refused(twin, [older])).toBeUndefined();
    expect(refused(older, [twin])?.reason).toBe("NameTaken");
    const acceptedSizes = new Map([["c", 1]]);
    expect(refused(older, [aPool({ name: "shared" }, undefined, born("c", 1))], { acceptedSizes })?.reason).toBe(
      "NameTaken",
    );
  });

  test("is free in another project, and when its pool is being deleted", () => {
    expect(
      refused(younger, [aPool({ name: "shared" }, undefined, born("a", 1, { namespace: "other" }))]),
    ).toBeUndefined();
    const dying = aPool({ name: "shared" }, undefined, born("a", 1, { deletionTimestamp: "2030-01-01T00:00:09Z" }));
    expect(refused(younger, [dying])).toBeUndefined();
  });

  test("left out is the object's own name", () => {
    const named = aPool({ name: "b" }, undefined, born("a", 1));
    expect(refused(aPool({}, undefined, born("b", 2)), [named])?.reason).toBe("NameTaken");
  });
});

describe("the limit of pooled sessions", () => {
  const other = aPool({ size: 9 }, { acceptedSize: 6 }, born("other", 1));

  // LIMIT-2
  test("counts what of the other pools was accepted, not what they ask for", () => {
    expect(refused(aPool({ size: 4 }), [other])).toBeUndefined();
    expect(refused(aPool({ size: 5 }), [other])).toEqual({
      reason: "PooledSessionsLimit",
      message: "spec.size: 5 with 6 of other pools exceeds the organization's limit of 10 pooled sessions",
    });
  });

  test("counts sizes that were accepted a moment ago and stand in no status yet", () => {
    expect(refused(aPool({ size: 4 }), [other], { acceptedSizes: new Map([["other", 7]]) })?.reason).toBe(
      "PooledSessionsLimit",
    );
  });
});

// LIMIT-3, POOL-24, PROXY-1
test.each<[string, BrowserPool, string, string]>([
  [
    "a fill rate above the cap",
    aPool({ fillRatePerMinute: 25.5 }),
    "FillRateAboveCap",
    "spec.fillRatePerMinute: 25.5 is above",
  ],
  ["a reference to nothing", aPool({ proxyId: "p1" }), "ReferenceNotFound", "spec.proxyId: no proxy with id p1"],
  [
    "a rule that the schema can't say",
    aPool({ chromePolicy: { ExtensionSettings: {} } }),
    "InvalidSpec",
    "spec.chromePolicy",
  ],
  [
    "a policy in two places",
    aPool({ chromePolicy: { A: 1 }, chromePolicyRef: { sha256: "a".repeat(64), configMaps: ["c"] } }),
    "InvalidSpec",
    "spec.chromePolicyRef: give only one",
  ],
])("%s is refused, with the field named", (_, pool, reason, message) => {
  expect(refused(pool)).toMatchObject({ reason, message: expect.stringContaining(message) });
});

describe("a project's cap", () => {
  const use = { ...noUse, cap: 5, inProject: { pooled: 2, onDemand: 1 } };
  const grown = (size: number, acceptedSize?: number) =>
    refused(aPool({ size }, acceptedSize === undefined ? {} : { acceptedSize }), [], { use });

  // LIMIT-10
  test("counts the other pools and the on-demand browsers", () => {
    expect(grown(2)).toBeUndefined();
    expect(grown(3)).toMatchObject({
      reason: "SessionsLimit",
      message: expect.stringContaining("limit of 5 sessions"),
    });
  });

  test("that was lowered takes nothing from a pool", () => {
    expect(grown(3, 3)).toBeUndefined();
    expect(grown(4, 3)?.reason).toBe("SessionsLimit");
  });
});

describe("an on-demand browser", () => {
  const refusalOfOne = (browser: BrowserPool, more: Partial<RefusalInput> = {}) =>
    browserRefusal(browser, {
      acceptedSizes: new Map(),
      use: noUse,
      objects: {},
      features: ["network", "chrome_policy"],
      ...more,
    });
  const one = aPool({ size: 1 }, {}, { uid: "one" });
  const full = { ...noUse, inProject: { pooled: 0, onDemand: 1 }, onDemandInAll: 1 };

  // POOL-31
  test("that runs is refused by settings that nothing here can carry out, though not by what others do", () => {
    const running = aPool({ size: 1 }, { acceptedSize: 1 }, { uid: "one" });
    expect(refusalOfOne(running, { use: full })).toBeUndefined();
    const changed = { ...running, spec: { ...running.spec, gpu: true } };
    expect(refusalOfOne(changed, { use: full })).toMatchObject({ reason: "NotSupportedHere" });
  });

  // HTTP-30, BROWSER-23
  test("is refused with a GPU where there is none, and accepted where there is one", () => {
    const { metadata } = one;
    const browser = onDemandView.toPool({ metadata, spec: BrowserSpec.parse({ gpu: true }) });
    const message = expect.stringContaining("spec.gpu: ");
    expect(refusalOfOne(browser)).toMatchObject({ reason: "NotSupportedHere", message });
    expect(refusalOfOne(browser, { features: ["gpu"] })).toBeUndefined();
  });

  // PROFILE-26
  test("is refused with a policy that would empty the profile it saves, and accepted when it saves none", () => {
    const { metadata } = one;
    const refusalOfSaving = (saveChanges: boolean) => {
      const chromePolicy = { ClearBrowsingDataOnExitList: ["browsing_history"] };
      const spec = BrowserSpec.parse({ profile: { id: "p", saveChanges }, chromePolicy });
      return refusalOfOne(onDemandView.toPool({ metadata, spec }), {
        features: ["chrome_policy", "blob_store"],
        objects: { Profile: [{ metadata: { name: "p", uid: "p", resourceVersion: "1" }, spec: {} }] },
      });
    };
    const message = expect.stringContaining("spec.chromePolicy.ClearBrowsingDataOnExitList: ");
    expect(refusalOfSaving(true)).toMatchObject({ reason: "InvalidSpec", message });
    expect(refusalOfSaving(false)).toBeUndefined();
  });

  // LIMIT-20
  test("is refused above the limit of its project or of the organization", () => {
    expect(refusalOfOne(one)).toBeUndefined();
    expect(refusalOfOne(one, { use: full })?.message).toContain("without a cap of its own may run 1");
    expect(refusalOfOne(one, { use: { ...noUse, onDemandInAll: 2 } })?.message).toContain("organization may run 2");
  });

  // HTTP-31
  test("is refused while it refers to nothing", () => {
    const routed = aPool({ size: 1, proxyId: "px" }, {}, { uid: "one" });
    const proxy = { metadata: { name: "px", uid: "px", resourceVersion: "1" }, spec: {} };
    expect(refusalOfOne(routed)?.reason).toBe("ReferenceNotFound");
    expect(refusalOfOne(routed, { objects: { Proxy: [proxy] } })).toBeUndefined();
  });

  test("that was accepted stays so, and one that is over needs no room", () => {
    expect(refusalOfOne(one, { acceptedSizes: new Map([["one", 1]]), use: full })).toBeUndefined();
    expect(refusalOfOne(aPool({ size: 1 }, { acceptedSize: 1 }), { use: full })).toBeUndefined();
    expect(refusalOfOne({ ...one, spec: { ...one.spec, size: 0 } }, { use: full })).toBeUndefined();
  });
});

// POOL-28
describe("an autoscaled pool", () => {
  const other = aPool({ size: 9 }, { acceptedSize: 6 }, born("other", 1));
  const scaled = (min: number, more: object = {}, status: object = {}) =>
    aPool({ autoscale: Autoscale.parse({ min, max: 50, ...more }) }, status);

  test("is refused when there is no room for its min; its max is only a bound", () => {
    expect(refused(scaled(4), [other])).toBeUndefined();
    expect(refused(scaled(5), [other])).toEqual({
      reason: "PooledSessionsLimit",
      message: "spec.autoscale.min: 5 with 6 of other pools exceeds the organization's limit of 10 pooled sessions",
    });
    const use = { ...noUse, cap: 3, inProject: { pooled: 1, onDemand: 1 } };
    expect(refused(scaled(2), [other], { use })?.message).toMatch(
      /^spec\.autoscale\.min: 2 with 1 of other pools and 1/,
    );
  });

  test("that has its min is not refused for a limit that is lowered: it must be able to shrink", () => {
    expect(refused(scaled(5, {}, { acceptedSize: 8 }), [other])).toBeUndefined();
    expect(refused(aPool({ size: 8 }, { acceptedSize: 8 }), [other])?.reason).toBe("PooledSessionsLimit");
  });

  test("is refused for a time zone that there is not", () => {
    const schedule = [{ start: "08:00", end: "18:00", timeZone: "Mars/Olympus", min: 1 }];
    expect(refused(scaled(0, { schedule }))).toEqual({
      reason: "InvalidSpec",
      message: "spec.autoscale.schedule[0].timeZone: is no time zone of the IANA database",
    });
  });

  test("may grow to what organization and project leave, whichever is less", () => {
    const room = (use: SessionUse, accepted: [string, number][] = []) =>
      roomFor({ pool: scaled(0), pools: [scaled(0), other], acceptedSizes: new Map(accepted), limits, use });
    expect(room(noUse)).toEqual({ size: 4, limit: "PooledSessionsLimit" });
    expect(room(noUse, [["other", 9]])).toEqual({ size: 1, limit: "PooledSessionsLimit" });
    expect(room(noUse, [["other", 12]])).toEqual({ size: 0, limit: "PooledSessionsLimit" });
    const inProject = { pooled: 1, onDemand: 1 };
    expect(room({ ...noUse, cap: 5, inProject })).toEqual({ size: 3, limit: "SessionsLimit" });
    expect(room({ ...noUse, cap: 1, inProject })).toEqual({ size: 0, limit: "SessionsLimit" });
  });
});
