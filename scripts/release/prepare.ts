/** The files that say a version, changed for a release. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closeChangelog, withSecurityFix } from "./changelog.ts";
import { withRelease } from "./support-page.ts";
import type { Tool, Tools } from "./tools.ts";
import { type Bump, bumpOf, nextVersion, readVersion, type Version } from "./version.ts";

/** Between the commits that `git log` prints. */
const separator = "\u0000";

/** What the next release is. `last`: undefined before the first one. */
export type Plan = { version: Version; bump: Bump; last: Version | undefined };

/** By the tags and commits of git. Throws an Error when no commit since the last release changes what users get. */
export const planRelease = async (git: Tool, given: string | undefined): Promise<Plan> => {
  const tag = await git("describe", "--tags", "--abbrev=0", "--match=v[0-9]*").catch(() => "");
  const last = tag === "" ? undefined : readVersion(tag.slice(1));
  const range = last === undefined ? "HEAD" : `${tag}..HEAD`;
  const messages = (await git("log", "--format=%B%x00", range)).split(separator).map((message) => message.trim());
  const bump = bumpOf(messages);
  if (given !== undefined) return { version: readVersion(given), bump: bump ?? "patch", last };
  if (last === undefined) return { version: "0.1.0", bump: "minor", last };
  if (bump === undefined) throw new Error(`no commit since ${tag} changes what users get: give --version to release`);
  return { version: nextVersion(last, bump), bump, last };
};

const edit = async (file: string, change: (text: string) => string): Promise<void> =>
  writeFile(file, change(await readFile(file, "utf8")));

/** Notes in a tree's changelog what the next release mends in security. */
export const noteSecurityFix = (tree: string, line: string): Promise<void> =>
  edit(join(tree, "CHANGELOG.md"), (text) => withSecurityFix(text, line));

/** Writes the version into a tree, and makes what is generated from it anew. `tools`: of the tree. */
export const writeVersion = async (
  tree: string,
  { version, bump }: Plan,
  { node }: Pick<Tools, "node">,
): Promise<void> => {
  const date = new Date().toISOString().slice(0, 10);
  await edit(join(tree, "CHANGELOG.md"), (text) => closeChangelog(text, { version, date, bump }));
  await edit(join(tree, "docs/support.md"), (text) => withRelease(text, { version, date }));
  for (const file of ["package.json", "package-lock.json"])
    await edit(join(tree, file), (text) => {
      const manifest = JSON.parse(text);
      manifest.version = version;
      if (manifest.packages) manifest.packages[""].version = version;
      return `${JSON.stringify(manifest, undefined, 2)}\n`;
    });
  for (const name of ["browserpool", "browserpool-crds"])
    await edit(join(tree, `charts/${name}/Chart.yaml`), (text) =>
      text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`),
    );
  await node(join(tree, "scripts/gen.ts"));
};
