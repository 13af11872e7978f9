import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Known, recommend } from "./recommend.ts";
import { decisive } from "./session-evidence.ts";
import { type SourcedEvidence, totalOf } from "./site.ts";

const target = { normalized: "https://shop.example/", host: "shop.example", domain: "shop.example" };
const counts = (source: SourcedEvidence["source"], accessed: number, blocked: number): SourcedEvidence => ({
  source,
  accessed,
  blocked,
  inconclusive: 0,
  runCount: 1,
  lastObservedAt: source === "session" ? "2026-02-01T00:00:00Z" : "2026-01-01T00:00:00Z",
});

const known = (stealth: boolean, ...evidence: SourcedEvidence[]): Known[] => {
  const total = totalOf(evidence);
  const browser = { stealth, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } };
  return total ? [{ recipe: { browser }, evidence: total, decisive: decisive(evidence, total), isTried: false }] : [];
};
const working = (...all: Known[][]) =>
  recommend(target, (scope) => (scope === "host" ? { known: all.flat(), guidance: undefined } : undefined), {
    minTrials: 3,
    minRate: 0.7,
    countries: undefined,
  }).working;

const some = fc.nat({ max: 1000 });

// LOOKUP-86
describe("sessions", () => {
  test("alone make no configuration eligible, and none ineligible, however many there are", () => {
    fc.assert(
      fc.property(fc.nat({ max: 6 }), fc.nat({ max: 6 }), some, some, (accessed, blocked, good, bad) => {
        const trials = counts("trial", accessed, blocked);
        const before = working(known(true, trials)).length;
        expect(working(known(true, trials, counts("session", good, bad)))).toHaveLength(before);
        expect(working(known(true, counts("session", good, bad)))).toHaveLength(0);
      }),
    );
  });

  test("count in what is shown, and in the order of what works", () => {
    const [first, second] = working(
      known(false, counts("trial", 3, 0), counts("session", 0, 3)),
      known(true, counts("trial", 3, 0), counts("session", 1, 0)),
    );
    expect(first).toMatchObject({ recipe: { browser: { stealth: true } }, evidence: { accessed: 4, blocked: 0 } });
    expect(second?.evidence).toMatchObject({ accessed: 3, blocked: 3, lastObservedAt: "2026-02-01T00:00:00Z" });
  });
});
