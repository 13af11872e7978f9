import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareFences } from "../protocol/agent-api.ts";
import { createLeaseFence, type LeaseFence, type LeaseName } from "./lease-fence.ts";

const lease = (session_id: string, epoch: number, seq: number): LeaseName => ({ session_id, epoch, seq });

const leased = (held: LeaseName): LeaseFence => {
  const fence = createLeaseFence();
  fence.claim(held);
  fence.grant(held);
  return fence;
};

describe("claiming", () => {
  test("the first lease holds the browser once it is granted, not before", () => {
    const fence = createLeaseFence();
    expect(fence.claim(lease("a", 1, 1))).toBe("claimed");
    expect(fence.holder()).toBeUndefined();
    expect(fence.grant(lease("a", 1, 1))).toBe(true);
    expect(fence.holder()).toEqual(lease("a", 1, 1));
  });

  test.each([
    ["an older sequence", lease("b", 2, 4)],
    ["an older epoch with a newer sequence", lease("b", 1, 9)],
    ["the same fence for another session", lease("b", 2, 5)],
    ["the fence before any lease", lease("b", 0, 0)],
    // LEASE-40
    ["a newer epoch with the same sequence, which Redis has lost and gives again", lease("b", 3, 5)],
    ["a newer epoch with an older sequence", lease("b", 3, 1)],
  ])("%s is stale and leaves the holder", (_, other) => {
    const fence = leased(lease("a", 2, 5));
    expect(fence.claim(other)).toBe("stale");
    expect(fence.holder()).toEqual(lease("a", 2, 5));
    expect(fence.highest()).toEqual({ epoch: 2, seq: 5 });
  });

  test("the same claim again is a repetition, while claimed and while leased", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 1));
    expect(fence.claim(lease("a", 1, 1))).toBe("repeated");
    fence.grant(lease("a", 1, 1));
    expect(fence.claim(lease("a", 1, 1))).toBe("repeated");
  });

  test("the same claim after its end is stale", () => {
    const fence = leased(lease("a", 1, 1));
    fence.end(lease("a", 1, 1));
    expect(fence.claim(lease("a", 1, 1))).toBe("stale");
  });

  test("a newer claim ends the earlier lease at once, before it is granted", () => {
    const fence = leased(lease("a", 1, 1));
    expect(fence.claim(lease("b", 1, 2))).toBe("claimed");
    expect(fence.holder()).toBeUndefined();
    expect(fence.end(lease("a", 1, 1))).toBe("not_holder");
  });
});

describe("what happens during the wait for the browser", () => {
  test("a newer claim makes the grant of the older one fail", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 1));
    fence.claim(lease("b", 1, 2));
    expect(fence.grant(lease("a", 1, 1))).toBe(false);
    expect(fence.grant(lease("b", 1, 2))).toBe(true);
    expect(fence.holder()).toEqual(lease("b", 1, 2));
  });

  test("an end makes the grant fail", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 1));
    expect(fence.end(lease("a", 1, 1))).toBe("ended");
    expect(fence.grant(lease("a", 1, 1))).toBe(false);
    expect(fence.holder()).toBeUndefined();
  });

  test("a refused claim has used up its fence and can be neither repeated nor ended", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 1));
    fence.refuse(lease("a", 1, 1));
    expect(fence.claim(lease("a", 1, 1))).toBe("stale");
    expect(fence.end(lease("a", 1, 1))).toBe("not_holder");
    expect(fence.highest()).toEqual({ epoch: 1, seq: 1 });
  });

  test("a late refusal does not touch a newer claim", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 1));
    fence.claim(lease("b", 1, 2));
    fence.refuse(lease("a", 1, 1));
    expect(fence.grant(lease("b", 1, 2))).toBe(true);
  });
});

describe("ending", () => {
  test.each([
    ["another session", lease("b", 1, 1)],
    ["an older fence", lease("a", 1, 0)],
    ["the end of a lease that Redis gave under a newer epoch with the same sequence", lease("b", 2, 1)],
  ])("%s is not the holder", (_, other) => {
    const fence = leased(lease("a", 1, 1));
    expect(fence.end(other)).toBe("not_holder");
    expect(fence.holder()).toEqual(lease("a", 1, 1));
  });

  test("an end that overtakes its bind uses up the fence, so that the bind comes too late", () => {
    const fence = leased(lease("a", 1, 1));
    expect(fence.end(lease("b", 1, 2))).toBe("ended");
    expect(fence.holder()).toBeUndefined();
    expect(fence.claim(lease("b", 1, 2))).toBe("stale");
    expect(fence.claim(lease("c", 1, 3))).toBe("claimed");
  });

  test("the same end again is a repetition until the next claim", () => {
    const fence = leased(lease("a", 1, 1));
    expect(fence.end(lease("a", 1, 1))).toBe("ended");
    expect(fence.end(lease("a", 1, 1))).toBe("repeated");
    fence.claim(lease("b", 1, 2));
    expect(fence.end(lease("a", 1, 1))).toBe("not_holder");
  });
});

describe("raising the epoch", () => {
  test("drops a claim of a lower one, and its fence stays used up", () => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 1, 3));
    fence.raise(2);
    expect(fence.claimant()).toBeUndefined();
    expect(fence.grant(lease("a", 1, 3))).toBe(false);
    expect(fence.highest()).toEqual({ epoch: 2, seq: 3 });
    expect(fence.claim(lease("b", 2, 3))).toBe("stale");
    expect(fence.claim(lease("b", 2, 4))).toBe("claimed");
  });

  test("leaves a lease that is held, whose repeated bind and end are answered as before", () => {
    const fence = leased(lease("a", 1, 1));
    fence.raise(2);
    expect(fence.holder()).toEqual(lease("a", 1, 1));
    expect(fence.claim(lease("a", 1, 1))).toBe("repeated");
    expect(fence.end(lease("a", 1, 1))).toBe("ended");
    expect(fence.end(lease("a", 1, 1))).toBe("repeated");
  });

  test("lets an end of a lower epoch use up nothing", () => {
    const fence = createLeaseFence();
    fence.raise(2);
    expect(fence.end(lease("a", 1, 1))).toBe("not_holder");
    expect(fence.highest()).toEqual({ epoch: 2, seq: 0 });
  });

  test.each([2, 1, 0])("to %i, which is not above it, changes nothing", (epoch) => {
    const fence = createLeaseFence();
    fence.claim(lease("a", 2, 1));
    fence.raise(epoch);
    expect(fence.grant(lease("a", 2, 1))).toBe(true);
    expect(fence.highest()).toEqual({ epoch: 2, seq: 1 });
  });
});

test("whatever the order of calls, the highest fence never falls and only its newest lease holds the browser", () => {
  const name = fc.record({
    session_id: fc.constantFrom("a", "b"),
    epoch: fc.integer({ min: 0, max: 2 }),
    seq: fc.integer({ min: 0, max: 3 }),
  });
  const call = fc.tuple(fc.constantFrom("claim", "grant", "refuse", "end", "raise"), name);
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
      const fence = createLeaseFence();
      const granted: LeaseName[] = [];
      for (const [what, lease] of calls) {
        const before = fence.highest();
        if (what === "raise") fence.raise(lease.epoch);
        else if (fence[what as "claim" | "grant" | "refuse" | "end"](lease) === true) granted.push(lease);
        expect(compareFences(fence.highest(), before)).toBeGreaterThanOrEqual(0);
        const holder = fence.holder();
        if (holder) expect(granted.at(-1)).toEqual(holder);
        if (holder) expect(compareFences(holder, fence.highest())).toBeLessThanOrEqual(0);
      }
      const fences = granted.map(({ epoch, seq }) => `${epoch}.${seq}`);
      expect(new Set(fences).size).toBe(fences.length);
    }),
  );
});
