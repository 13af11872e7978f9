import { describe, expect, test } from "vitest";
import { defaultBodyEntries, excessOf, maxBodyDepth, maxBodyNames } from "./body-entries.ts";

const excess = (value: unknown, most = 1_000_000): string | undefined =>
  excessOf(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)), most);
const named = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, 1]));

// LIMIT-31
describe("a body's excess", () => {
  test("is found in fields and items alike", () => {
    for (const make of [(count: number) => Array(count).fill(1), named])
      expect([excess(make(100), 100), excess(make(101), 100)]).toEqual([
        undefined,
        expect.stringMatching(/^has more than 100 entries/),
      ]);
    expect(excess(Array(60).fill([]), 100)).toMatch(/entries/);
  });

  test("is not in texts, whatever they hold", () => {
    const texts = ['",[{"a":1},', "\\", '\\"', "[".repeat(200), ",".repeat(200), ":{".repeat(200), "ü,😀"];
    expect(excess(texts, 10)).toBeUndefined();
    expect(excess(Object.fromEntries(texts.map((text) => [text, text])), 10)).toBeUndefined();
  });

  test("is found in names that were not there before, and not in those that repeat", () => {
    expect(excess(named(maxBodyNames))).toBeUndefined();
    expect(excess(named(maxBodyNames + 100))).toMatch(/^has more than 5000 different names/);
    expect(excess(Array(maxBodyNames * 2).fill({ name: 1, url: 2 }))).toBeUndefined();
    // "Aa" and "BB" are alike to the usual hash of texts.
    const alike = Array.from({ length: 2 ** 13 }, (_, bits) =>
      Array.from({ length: 13 }, (_, bit) => ((bits >> bit) & 1 ? "Aa" : "BB")).join(""),
    );
    expect(excess(Object.fromEntries(alike.map((name) => [name, 1])))).toMatch(/different names/);
  });

  test("is found in levels", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect([excess(nested(maxBodyDepth)), excess(nested(maxBodyDepth + 1))]).toEqual([
      undefined,
      `is nested deeper than ${maxBodyDepth} levels`,
    ]);
    expect(excess('{"a":'.repeat(1_000_000))).toMatch(/deeper/);
  });

  test.each(["", '"', '"\\', "]]]]", "{{", "\u0000"])("is none in what is no JSON: %j", (text) => {
    expect(excess(text, defaultBodyEntries)).toBeUndefined();
  });
});
