/** CHANGELOG.md, in the format of Keep a Changelog: what is not released yet comes first, then a section for each release. */
import type { Bump } from "./version.ts";

const unreleased = "## [Unreleased]";

/** What follows the heading of a section, to the next one. */
const sectionAt = (changelog: string, heading: string): string | undefined => {
  const begin = changelog.indexOf(`\n${heading}`);
  if (begin < 0) return undefined;
  const from = changelog.indexOf("\n", begin + 1) + 1;
  const end = changelog.indexOf("\n## [", from);
  return changelog.slice(from, end < 0 ? undefined : end).trim();
};

/** What a release says of itself. Throws an Error when the changelog has no section for it. */
export const notesOf = (changelog: string, version: string): string => {
  const notes = sectionAt(changelog, `## [${version}]`);
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section ## [${version}]`);
  return notes;
};

/**
 * The changelog with its unreleased part as the section of a version. Throws an Error when there is nothing to release,
 * or a change that breaks something does not say what users have to do.
 */
export const closeChangelog = (
  changelog: string,
  { version, date, bump }: { version: string; date: string; bump: Bump },
): string => {
  const notes = sectionAt(changelog, unreleased);
  if (!notes) throw new Error(`CHANGELOG.md says nothing under ${unreleased}`);
  if (bump === "major" && !notes.includes("### Action required"))
    throw new Error(
      `a commit breaks something, and CHANGELOG.md has no "### Action required" under ${unreleased}: say there what users have to do`,
    );
  return changelog.replace(unreleased, () => `${unreleased}\n\n## [${version}] - ${date}`);
};

/** The changelog with one line more of what was mended in security and is not released yet. */
export const withSecurityFix = (changelog: string, line: string): string => {
  const heading = "### Security\n\n";
  const begin = changelog.indexOf(unreleased) + unreleased.length;
  const next = changelog.indexOf("\n## [", begin);
  const fixes = changelog.slice(0, next < 0 ? undefined : next).indexOf(heading, begin);
  const at = fixes < 0 ? begin : fixes + heading.length;
  const added = fixes < 0 ? `\n\n${heading}- ${line}` : `- ${line}\n`;
  return changelog.slice(0, at) + added + changelog.slice(at);
};
