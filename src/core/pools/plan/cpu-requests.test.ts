import { describe, expect, test } from "vitest";
import { anObserved, aPod, aPool, nowMs, type PodKind, podKinds } from "../../../../test/support/observed-pool.ts";
import { planned } from "../../../../test/support/planned.ts";
import { planPool } from "./plan.ts";

const asks = (present: string) => ({ present, idle: "50m", inUse: "0.25" });
const pool = (...pods: ReturnType<typeof aPod>[]) => ({ pool: aPool({ size: pods.length }), pods });
const one = (kind: PodKind, present: string, more = {}) =>
  aPod("a", { ...podKinds[kind], cpu: asks(present), ...more });

describe("rule 9: what a pod asks for of the processor", () => {
  test("rises when it has the mark of a browser in use, and falls when it has lost that", () => {
    expect(planned(pool(one("long leased, marked", "50m")))).toEqual(["resize a to 0.25"]);
    expect(planned(pool(one("idle", "250m")))).toEqual(["resize a to 50m"]);
  });

  test("stays as it is while it is right, in whatever notation", () => {
    expect(planned(pool(one("long leased, marked", "250m")))).toEqual([]);
    expect(planned(pool(one("idle", "0.05")))).toEqual([]);
  });

  test("waits for the mark, so a short lease costs nothing", () => {
    expect(planned(pool(one("leased", "50m")))).toEqual([]);
  });

  test("does not change of a pod that is going, or was made without, or was refused a moment ago", () => {
    expect(planned(pool(one("terminating leased", "50m", { marked: true })))).not.toContain("resize a to 0.25");
    expect(planned(pool(aPod("a", podKinds["long leased, marked"])))).toEqual([]);
    expect(planned(pool(one("long leased, marked", "50m", { isRefused: true })))).toEqual([]);
  });

  test("changes of ten pods a round, and then again before long", () => {
    const observed = pool(
      ...Array.from({ length: 12 }, (_, place) => aPod(`${place}`, { ...podKinds.idle, cpu: asks("250m") })),
    );
    expect(planned(observed)).toEqual(Array.from({ length: 10 }, (_, place) => `resize ${place} to 50m`));
    expect(planPool(anObserved(observed), nowMs).requeueAfterMs).toBe(1000);
  });
});
