import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern, fold, isPattern } from "./pattern.ts";

const holds = (pattern: string, text: string): boolean => compilePattern(pattern)(fold(text));

test.each([
  ["robot", "Are you a ROBOT?", true],
  ["robot", "Are you a rabbit?", false],
  ["you're", "You’re here", true],
  ["a moment...", "Just a\u00a0moment…", true],
  ["^just a moment...$", "  Just a\n moment...  ", true],
  ["^just a moment...$", "Just a moment... says the title", false],
  ["^access", "No access", false],
  ["denied$", "denied again", false],
  ["denied$", "denied, and again denied", true],
  ["access*reference #", "Access Denied Reference #18", true],
  ["access*reference #", "Reference #18 Access", false],
  ["^ab*ba$", "aba", false],
  ["^ab*ba$", "abba", true],
  ["^a*$", "abc", true],
  ["a.c", "abc", false],
  ["(a+)+$", "aaaa", false],
  ["not a robot", "ロボット", false],
  ["ロボット", "私はロボットではありません", true],
])("%s in %s: %s", (pattern, text, found) => {
  expect(holds(pattern, text)).toBe(found);
});

test.each(["", " ", "*", "^", "$", "^$", "^*$", "* *"])("%j asks for nothing and is no pattern", (pattern) => {
  expect(isPattern(pattern)).toBe(false);
});

const escaped = (piece: string): string => piece.replace(/[.?(){}[\]\\|+^$]/g, "\\$&");

test("a pattern finds what the regular expression of the same meaning finds", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.boolean(), fc.boolean(), text, (body, atStart, atEnd, looked) => {
      fc.pre(isPattern(body));
      const [start, end] = [atStart ? "^" : "", atEnd ? "$" : ""];
      const same = new RegExp(`${start}${body.split("*").map(escaped).join(".*")}${end}`);
      expect(holds(`${start}${body}${end}`, looked)).toBe(same.test(looked));
    }),
    { numRuns: 20_000 },
  );
});
