/**
 * The cluster of a run: a given one, kind's own, or one that another program brings up where no image registry can be
 * reached.
 */
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { isProgram } from "../../../src/local/locate-programs.mjs";
import type { Run, Variables } from "../lane.ts";
import { exportsOf } from "./programs.ts";

const name = "browserpool";
const config = resolve(import.meta.dirname, "../kind.yaml");
const root = resolve(import.meta.dirname, "../../..");

/** The machine gives no cluster, which tells nothing of what would be tested on one; the message says why. */
export class NoCluster extends Error {
  override name = "NoCluster";
}

type BroughtUp = {
  /** Variables that lead programs to the cluster. */
  env: Variables;
  /** Whether it is this run's own, and ends with it. */
  isMade: boolean;
  /** How it came to be, for people. */
  how: string;
};

/** What bringing up is done with. */
type Ground = {
  run: Run;
  /** Of this run. */
  folder: string;
  /** Wanted, of Kubernetes; left out, any. */
  version: string | undefined;
  /**
   * Notes how to take back what is about to be made, whether or not that succeeds. `ifKilled`: commands for the case
   * that this run is killed.
   */
  abandon(undo: (run: Run) => Promise<unknown>, ifKilled: string[][]): Promise<void>;
};

/** The program of the environment, else the one that stands beside this project where several share it. */
const kindUp = (env: Variables): string | undefined =>
  [env.BROWSERPOOL_KIND_UP, resolve(root, "../shared/kind/up")].find((path) => path !== undefined && isProgram(path));

const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

/** Of kind on this machine; none when there is no Docker, or no kind yet. */
const kindClusters = async (run: Run): Promise<string[]> => {
  const text = await run("kind", "get", "clusters", "--quiet").catch(() => "");
  return text.split("\n").filter(Boolean);
};

/**
 * Why there is no way to a cluster here; undefined when there is one. Looks at what is installed, and starts nothing.
 */
export const whyImpossible = (env: Variables): string | undefined => {
  const hasDocker = spawnSync("docker", ["version"], { env, stdio: "ignore" }).status === 0;
  const isRoot = process.getuid?.() === 0;
  if (hasDocker || (isRoot && kindUp(env) !== undefined)) return undefined;
  return "they need Docker, or root and a program in BROWSERPOOL_KIND_UP that brings up a cluster";
};

const byKind = async (env: Variables, { run, folder, version, abandon }: Ground): Promise<BroughtUp> => {
  const kubeconfig = join(folder, "kubeconfig");
  const isThere = (await kindClusters(run)).includes(name);
  if (isThere) await run("kind", "export", "kubeconfig", "--name", name, "--kubeconfig", kubeconfig);
  else {
    const down = ["delete", "cluster", "--name", name];
    await abandon((again) => again("kind", ...down), [["kind", ...down]]);
    const image = version === undefined ? [] : ["--image", `kindest/node:v${version}`];
    await run("kind", "create", "cluster", "--config", config, ...image, "--kubeconfig", kubeconfig, "--wait", "180s");
  }
  const how = isThere ? "kind's, found" : "kind's, made";
  return { env: { ...env, KUBECONFIG: kubeconfig }, isMade: !isThere, how };
};

/** `up` and `down` stand beside each other; a Docker that `up` has started ends with the last cluster. */
const byProgram = async (up: string, env: Variables, { run, abandon }: Ground): Promise<BroughtUp> => {
  const hadDocker = await succeeds(run("docker", "version"));
  const isThere = hadDocker && (await kindClusters(run)).includes(name);
  const down = join(dirname(up), "down");
  const takeDown = async (again: Run): Promise<void> => {
    await again(down, "--name", name);
    if (!hadDocker && (await kindClusters(again)).length === 0) await again(down, "--all");
  };
  if (!isThere) await abandon(takeDown, [[down, ...(hadDocker ? ["--name", name] : ["--all"])]]);
  const printed = await run(up, "--name", name, "--config", config).catch((error: unknown) => {
    throw new NoCluster(`${up} brings up none: ${error instanceof Error ? error.message : error}`, { cause: error });
  });
  const how = isThere ? "kind's, found" : `kind's, made by ${up}`;
  return { env: { ...env, ...exportsOf(printed, env) }, isMade: !isThere, how };
};

/** Brings up the cluster, or finds it; a given one, and one that was there before, is not taken back. */
export const bringUp = async (env: Variables, ground: Ground): Promise<BroughtUp> => {
  if (env.KUBECONFIG) return { env, isMade: false, how: "given by KUBECONFIG" };
  if (await succeeds(ground.run("docker", "pull", "--quiet", "debian:bookworm-slim"))) return byKind(env, ground);
  const up = kindUp(env);
  if (up) return byProgram(up, env, ground);
  throw new NoCluster(
    "no cluster: Docker reaches no image registry; give a cluster by KUBECONFIG, or a program by BROWSERPOOL_KIND_UP",
  );
};

/** The name of the cluster in kind; undefined when its nodes are not kind's. */
export const kindNameOf = (providerId: string | undefined): string | undefined =>
  /^kind:\/\/[^/]+\/([^/]+)\//.exec(providerId ?? "")?.[1];
