import { describe, expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import type { BrowserPool } from "../../../resources/browser-pool.ts";
import { type RefusalInput, refusalOf } from "./refusal.ts";

const limits = { pooledSessions: 10, fillRatePerMinute: 25 };
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
  refusalOf({ pool, pools: [pool, ...others], acceptedSizes: new Map(), limits, ...more });

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
  ["a reference to nothing", aPool({ proxyId: "p1" }), "ReferenceNotFound", "proxy_id: no proxy with id p1"],
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
