/** `npm run release`: argv → plan → release. The only place that handles signals and ends the process. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { root } from "./generated-file.ts";
import { createImageBuilder, ownPlatform } from "./image/image-builder.ts";
import { chromiumIn } from "./release/artefacts.ts";
import { startLocalRegistry } from "./release/local-registry.ts";
import { noteSecurityFix, planRelease, writeVersion } from "./release/prepare.ts";
import { type Publication, publicationOf } from "./release/publication.ts";
import { rehearsalKey, rehearsalOf } from "./release/rehearsal.ts";
import { rehearsalBases } from "./release/rehearsal-bases.ts";
import { carryOut } from "./release/release.ts";
import { createSigner } from "./release/signer.ts";
import { createTools, type Tools } from "./release/tools.ts";

const usage = `usage: npm run release -- --dry-run | --prepare | --to REGISTRY  [options]

  --dry-run         the whole release of a clone of HEAD, into a registry of this machine that ends with it
  --prepare         writes the next version into CHANGELOG.md, package.json and the charts, commits and tags it
  --if-newer-chromium-than REGISTRY
                    with --prepare: a patch of the last release, if Debian has a newer Chromium than its image there; else nothing
  --to REGISTRY     publishes the version that HEAD is tagged with, e.g. to registry.example.com/team, where docker is logged in

  --version X.Y.Z   default: what the commits since the last tag ask for
  --platforms LIST  default: linux/amd64,linux/arm64. A processor that this machine has not needs QEMU (docs/releases.md)
  --no-local        without the image of local mode
  --base PREFIX     takes the base images from this mirror
  --chromium V      version of Debian's package; default: the newest
  --network MODE    network of the builds' containers, in docker's words; default: docker's own
  --key FILE        signs with this key of cosign, whose password is in COSIGN_PASSWORD, and whose other half is beside it as
                    .pub; default for --to: the identity of the workflow that runs this
  --out FOLDER      for release.json, packages, manifests and checksums; default: .browserpool/release
  --help            this text
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const options = () =>
  parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      prepare: { type: "boolean", default: false },
      to: { type: "string" },
      "if-newer-chromium-than": { type: "string" },
      version: { type: "string" },
      platforms: { type: "string", default: "linux/amd64,linux/arm64" },
      "no-local": { type: "boolean", default: false },
      base: { type: "string" },
      chromium: { type: "string" },
      network: { type: "string" },
      key: { type: "string" },
      out: { type: "string", default: ".browserpool/release" },
      help: { type: "boolean", default: false },
    },
  }).values;

type Options = ReturnType<typeof options>;

/** Docker's word for its own. */
const usualNetwork = "default";

/** What users verify a keyless release by: the workflow of the repository that runs this. */
const workflowTrust = ({ GITHUB_SERVER_URL, GITHUB_REPOSITORY }: Publication["env"]) => {
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY)
    throw new Error("without --key only a workflow can sign, which has an identity");
  return {
    identity: `^${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/.github/workflows/(release|chromium).yml@`,
    issuer: "https://token.actions.githubusercontent.com",
  };
};

/** Rejects when something is not committed: a release is a commit. */
const requireClean = async (git: (...args: string[]) => Promise<string>): Promise<void> => {
  const changed = await git("status", "--porcelain");
  if (changed !== "") throw new Error(`not committed:\n${changed}`);
};

/** Whether Debian has a newer Chromium than the last release, which the changelog then says. */
const noteNewerChromium = async (registry: string, { base, network }: Options, tools: Tools): Promise<boolean> => {
  const released = await chromiumIn(`${registry}/browser:${manifest.version}`, tools);
  await using builder = await createImageBuilder(root, { base, network: network ?? usualNetwork, say });
  const { chromium } = builder;
  if (chromium === released) {
    say(`the newest Chromium is that of ${manifest.version}: ${chromium}`);
    return false;
  }
  // Debian changes the Chromium of a released Debian for security alone.
  await noteSecurityFix(root, `Chromium ${chromium}, after ${released}.`);
  return true;
};

const prepare = async ({ version: given, ...chosen }: Options, signal: AbortSignal): Promise<void> => {
  const tools = createTools(root, signal);
  const { git } = tools;
  await requireClean(git);
  const registry = chosen["if-newer-chromium-than"];
  if (registry !== undefined && !(await noteNewerChromium(registry, chosen, tools))) return;
  const plan = await planRelease(git, given);
  await writeVersion(root, plan, tools);
  await git("commit", "--quiet", "--all", "--message", `chore(release): ${plan.version}`);
  await git("tag", "--annotate", `v${plan.version}`, "--message", `v${plan.version}`);
  say(`v${plan.version} is committed and tagged: git push --follow-tags begins its release`);
};

/** What both kinds of a release have. */
const common = async (chosen: Options, scratch: string, signal: AbortSignal) => {
  const out = resolve(root, chosen.out);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const tools = createTools(root, signal);
  const source = await tools.git("remote", "get-url", "origin").catch(() => "https://browserpool.dev");
  return {
    ...{ out, scratch, tools, source, say },
    ...{
      platforms: chosen.platforms.split(","),
      base: chosen.base,
      chromium: chosen.chromium,
      network: chosen.network ?? usualNetwork,
    },
    hasLocal: (platform: string) => !chosen["no-local"] && platform === ownPlatform,
  };
};

const rehearse = async (chosen: Options, scratch: string, signal: AbortSignal): Promise<void> => {
  const shared = await common(chosen, scratch, signal);
  await requireClean(shared.tools.git);
  const plan = await planRelease(shared.tools.git, chosen.version);
  say(`release ${plan.version}${plan.last ? ` after ${plan.last}` : ", the first one"}`);
  await using registry = await startLocalRegistry(join(scratch, "registry"), { signal });
  const where = { registry: registry.name, folder: scratch, signal, say };
  const bases = await rehearsalBases(shared, where);
  const network = chosen.network ?? bases.network ?? shared.network;
  const signing = await rehearsalKey(shared.tools, scratch);
  await carryOut(
    await rehearsalOf(root, { ...shared, ...bases, ...signing, network, plan, registry: registry.name, signal }),
  );
};

const publish = async (registry: string, chosen: Options, scratch: string, signal: AbortSignal): Promise<void> => {
  const { source, ...shared } = await common(chosen, scratch, signal);
  const { git } = shared.tools;
  await requireClean(git);
  const tag = await git("describe", "--exact-match", "--match=v[0-9]*").catch(() => {
    throw new Error("HEAD has no tag of a version: npm run release -- --prepare makes it");
  });
  const version = tag.slice(1);
  const commit = await git("rev-parse", "HEAD");
  const { key } = chosen;
  const publication = {
    ...shared,
    signer: createSigner(shared.tools, { scratch, ...(key !== undefined && { key }) }),
    trust: key === undefined ? workflowTrust(process.env) : { publicKey: key.replace(/\.key$/, ".pub") },
    ...{ tree: root, version, registry },
  };
  await carryOut(publicationOf(publication, { commit, source }));
};

const run = async (chosen: Options, signal: AbortSignal): Promise<void> => {
  const { "dry-run": isRehearsal, prepare: isPrepared, to } = chosen;
  if ([isRehearsal, isPrepared, to !== undefined].filter(Boolean).length !== 1)
    throw new Error(`give one of --dry-run, --prepare and --to\n\n${usage}`);
  if (isPrepared) return prepare(chosen, signal);
  const scratch = await mkdtemp(join(tmpdir(), "browserpool-release-"));
  try {
    if (to === undefined) await rehearse(chosen, scratch, signal);
    else await publish(to, chosen, scratch, signal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
try {
  const chosen = options();
  if (chosen.help) say(usage);
  else await run(chosen, stop.signal);
} catch (error) {
  const { message, stderr = "" } = error as Error & { stderr?: string };
  process.stderr.write(`release: ${message}\n${message.includes(stderr) ? "" : stderr}`);
  process.exitCode = 1;
}
