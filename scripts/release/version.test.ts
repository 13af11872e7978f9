import { expect, test } from "vitest";
import { bumpOf, nextVersion, readVersion } from "./version.ts";

test.each([
  [["feat(api): a", "fix: b"], "minor"],
  [["fix(api): a", "docs: b"], "patch"],
  [["perf: a"], "patch"],
  [["docs: a", "test: b", "no type at all"], undefined],
  [["fix(api)!: a"], "major"],
  [["refactor: a\n\nwhy\n\nBREAKING CHANGE: what"], "major"],
  [["docs: a\n\nwhat a BREAKING CHANGE: is"], undefined],
])("of %j the version rises by %s", (messages, bump) => expect(bumpOf(messages)).toBe(bump));

test.each([
  ["1.2.3", "major", "2.0.0"],
  ["1.2.3", "minor", "1.3.0"],
  ["1.2.3", "patch", "1.2.4"],
  ["0.2.3", "major", "0.3.0"],
  ["0.2.3", "minor", "0.3.0"],
] as const)("after %s a %s change is released as %s", (version, bump, next) =>
  expect(nextVersion(version, bump)).toBe(next),
);

test.each(["1.2", "1.2.3-rc.1", "01.2.3", "v1.2.3", ""])("%j is no version", (text) =>
  expect(() => readVersion(text)).toThrow(`${text} is no version`),
);
