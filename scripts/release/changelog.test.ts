import { expect, test } from "vitest";
import { closeChangelog, notesOf, withSecurityFix } from "./changelog.ts";

const head = "# Changelog\n\n## [Unreleased]\n";
const older = "\n## [0.1.0] - 2026-01-01\n\n### Added\n\n- The beginning.\n";
const release = { version: "0.2.0", date: "2026-02-03", bump: "minor" } as const;

test("what was not released becomes the section of the version, above the older ones", () => {
  const closed = closeChangelog(`${head}\n### Added\n\n- More, for $& more.\n${older}`, release);
  expect(closed).toBe(`${head}\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- More, for $& more.\n${older}`);
  expect(notesOf(closed, "0.2.0")).toBe("### Added\n\n- More, for $& more.");
  expect(notesOf(closed, "0.1.0")).toBe("### Added\n\n- The beginning.");
});

test("nothing to release is an error", () =>
  expect(() => closeChangelog(`${head}${older}`, release)).toThrow("says nothing under ## [Unreleased]"));

test("a change that breaks something has to say what users do", () => {
  const breaking = { ...release, bump: "major" } as const;
  expect(() => closeChangelog(`${head}\n### Changed\n\n- All.\n`, breaking)).toThrow("### Action required");
  expect(closeChangelog(`${head}\n### Action required\n\n- Do.\n`, breaking)).toContain("## [0.2.0]");
});

test("a version that was never released has no notes", () =>
  expect(() => notesOf(head, "9.9.9")).toThrow("no section ## [9.9.9]"));

test("a line is added to what is mended in security, with or without others", () => {
  expect(withSecurityFix(`${head}${older}`, "Newer.")).toBe(`${head}\n### Security\n\n- Newer.\n${older}`);
  const more = `${head}\n### Added\n\n- More.\n\n### Security\n\n- One.\n${older}`;
  expect(notesOf(closeChangelog(withSecurityFix(more, "Newer."), release), "0.2.0")).toBe(
    "### Added\n\n- More.\n\n### Security\n\n- Newer.\n- One.",
  );
});
