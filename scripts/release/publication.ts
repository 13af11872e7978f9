import type { Build } from "./provenance.ts";
import type { Signer, Trust } from "./signer.ts";
import type { Tools } from "./tools.ts";

/** What the steps of a release work with. */
export type Publication = {
  /** The tree that is released, at the version's commit. */
  tree: string;
  version: string;
  /** Where everything goes, e.g. `registry.example.com/team`. */
  registry: string;
  /** Tag of what is not released yet. */
  candidate: string;
  platforms: readonly string[];
  /** Whether the image of local mode is built for a platform: its control plane is built on this machine, for this machine. */
  hasLocal(platform: string): boolean;
  /** Prefix of the base images; undefined: where their names say. */
  base: string | undefined;
  /** Version of Debian's package; undefined: the newest. */
  chromium: string | undefined;
  /** Of the build's containers, in docker's words. */
  network: string;
  /** Folder for the files of the release. */
  out: string;
  /** Folder for what is needed meanwhile. */
  scratch: string;
  build: Omit<Build, "bases">;
  tools: Tools;
  signer: Signer;
  trust: Trust;
  env: Readonly<Record<string, string | undefined>>;
  say(line: string): void;
};

/** A release, as far as it does not follow from the commit. */
export type Chosen = Omit<Publication, "candidate" | "env" | "build">;

/** Puts a release of a commit together. `source`: URL of the repository. */
export const publicationOf = (
  chosen: Chosen,
  { commit, source }: Pick<Publication["build"], "commit" | "source">,
): Publication => ({
  ...chosen,
  ...{ candidate: `rc-${commit.slice(0, 12)}`, env: process.env },
  build: { version: chosen.version, commit, source, startedOn: new Date() },
});

/** What Helm needs to be told of a registry of this machine, which has no TLS. */
export const helmOptions = ({ registry }: Pick<Publication, "registry">): string[] =>
  registry.startsWith("localhost:") ? ["--plain-http"] : [];
