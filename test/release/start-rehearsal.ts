/** The parts of a release that need no Docker, of this tree as it is, into a registry of this machine. */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/generated-file.ts";
import { startLocalRegistry } from "../../scripts/release/local-registry.ts";
import { type Publication, publicationOf } from "../../scripts/release/publication.ts";
import { rehearsalKey } from "../../scripts/release/rehearsal.ts";
import { createTools } from "../../scripts/release/tools.ts";
import { locatePrograms, releasePrograms } from "../../src/local/locate-programs.mjs";

/** What they read of the tree. */
const parts = ["charts", "crds", "src", "docs/cli.md", "LICENSE", "package.json"];

/** Longest time that a test may take, ms. */
const longestMs = 120_000;

/** Why there is no rehearsal here; undefined where there can be one. */
export const withoutReleasePrograms = (): string | undefined => {
  const found = locatePrograms();
  const missing = releasePrograms.filter((name) => !found[name]);
  return missing.length > 0 ? `${missing.join(", ")} missing: node scripts/setup.mjs --release` : undefined;
};

/** `changelog`: what the version changes. Disposing of it ends the registry, and removes all files. */
export const startRehearsal = async (changelog: string): Promise<AsyncDisposable & { publication: Publication }> => {
  await using stack = new AsyncDisposableStack();
  const scratch = await mkdtemp(join(tmpdir(), "release-"));
  stack.defer(() => rm(scratch, { recursive: true, force: true }));
  const [tree, out] = [join(scratch, "tree"), join(scratch, "out")];
  const version = "9.8.7";
  for (const part of parts) await cp(join(root, part), join(tree, part), { recursive: true, verbatimSymlinks: true });
  await symlink(join(root, "node_modules"), join(tree, "node_modules"));
  await writeFile(join(tree, "CHANGELOG.md"), `# Changelog\n\n## [${version}] - 2030-01-01\n\n${changelog}`);
  const manifest = JSON.parse(await readFile(join(tree, "package.json"), "utf8"));
  await writeFile(join(tree, "package.json"), JSON.stringify({ ...manifest, version }));
  await mkdir(out);
  const signal = AbortSignal.timeout(longestMs);
  const tools = createTools(scratch, signal);
  const registry = stack.use(await startLocalRegistry(join(scratch, "registry"), { signal }));
  const publication = publicationOf(
    {
      ...(await rehearsalKey(tools, scratch)),
      ...{ tree, version, registry: registry.name, platforms: [], out, scratch, tools },
      ...{ base: undefined, chromium: undefined, network: "default", hasLocal: () => false },
      say: () => undefined,
    },
    { commit: "0".repeat(40), source: "https://forge.example/team/browserpool" },
  );
  const kept = stack.move();
  return { publication, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
