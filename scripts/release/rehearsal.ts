/** A release that nobody else sees: of a clone, into a registry of this machine, signed with a key that goes with it. */
import { randomBytes } from "node:crypto";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "../run-program.ts";
import { type Plan, writeVersion } from "./prepare.ts";
import { type Chosen, type Publication, publicationOf } from "./publication.ts";
import { createSigner } from "./signer.ts";
import { createTools, type Tools } from "./tools.ts";

/** A clone of a tree's last commit, with one commit more that makes it a version. Resolves with its commit. */
const cloneAsVersion = async (
  root: string,
  { tree, plan, signal }: { tree: string; plan: Plan; signal: AbortSignal },
): Promise<string> => {
  await outputOf("git", ["clone", "--quiet", "--no-hardlinks", root, tree]);
  await symlink(join(root, "node_modules"), join(tree, "node_modules"));
  const tools = createTools(tree, signal);
  const { git } = tools;
  await writeVersion(tree, plan, tools);
  const author = ["-c", "user.name=release", "-c", "user.email=release@localhost"];
  await git(...author, "commit", "--quiet", "--all", "--message", `chore(release): ${plan.version}`);
  return git("rev-parse", "HEAD");
};

/** Clones the last commit of a tree into `scratch`, and puts its release as `plan` says together. */
export const rehearsalOf = async (
  root: string,
  {
    plan,
    source,
    signal,
    ...chosen
  }: Omit<Chosen, "tree" | "version"> & { plan: Plan; source: string; signal: AbortSignal },
): Promise<Publication> => {
  const tree = join(chosen.scratch, "tree");
  const commit = await cloneAsVersion(root, { tree, plan, signal });
  return publicationOf({ ...chosen, tree, version: plan.version }, { commit, source });
};

/** Makes a key pair in `folder`, for this process alone. */
export const rehearsalKey = async (
  { cosign }: Tools,
  folder: string,
): Promise<Pick<Publication, "signer" | "trust">> => {
  // The tools of this process inherit it.
  process.env.COSIGN_PASSWORD = randomBytes(16).toString("hex");
  const prefix = join(folder, "rehearsal");
  await cosign("generate-key-pair", "--output-key-prefix", prefix);
  const signer = createSigner({ cosign }, { key: `${prefix}.key`, scratch: folder });
  return { signer, trust: { publicKey: `${prefix}.pub` } };
};
