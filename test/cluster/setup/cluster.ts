/** The cluster of a run: a given one, kind's own, or one that another program brings up where no image registry can be reached. */
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { isProgram } from "../../../src/local/locate-programs.mjs";
import type { Run } from "../lane.ts";
import { exportsOf } from "./programs.ts";

const name = "browserpool";
const config = resolve(import.meta.dirname, "../kind.yaml");
const root = resolve(import.meta.dirname, "../../..");

type Variables = Record<string, string | undefined>;

/** The machine gives no cluster, which tells nothing of what would be tested on one; the message says why. */
export class NoCluster extends Error {
  override name = "NoCluster";
}

export type BroughtUp = {
  /** Variables that lead programs to the cluster. */
  env: Variables;
  /** Whether it is this run's own, and ends with it. */
  isMade: boolean;
  /** How it came to be, for people. */
  how: string;
  /** Takes back what was brought up; a given cluster, or one that was there before, stays. */
  takeDown(run: Run): Promise<void>;
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

/** Why there is no way to a cluster here; undefined when there is one. Looks at what is installed, and starts nothing. */
export const whyImpossible = (env: Variables): string | undefined => {
  const hasDocker = spawnSync("docker", ["version"], { env, stdio: "ignore" }).status === 0;
  const isRoot = process.getuid?.() === 0;
  if (hasDocker || (isRoot && kindUp(env) !== undefined)) return undefined;
  return "they need Docker, or root and a program in BROWSERPOOL_KIND_UP that brings up a cluster";
};

const byKind = async (env: Variables, run: Run, folder: string): Promise<BroughtUp> => {
  const kubeconfig = join(folder, "kubeconfig");
  const isThere = (await kindClusters(run)).includes(name);
  if (isThere) await run("kind", "export", "kubeconfig", "--name", name, "--kubeconfig", kubeconfig);
  else await run("kind", "create", "cluster", "--config", config, "--kubeconfig", kubeconfig, "--wait", "180s");
  return {
    env: { ...env, KUBECONFIG: kubeconfig },
    isMade: !isThere,
    how: isThere ? "kind's, found" : "kind's, made",
    takeDown: async (again) => {
      if (!isThere) await again("kind", "delete", "cluster", "--name", name);
    },
  };
};

/** `up` and `down` stand beside each other; a Docker that `up` has started ends with the last cluster. */
const byProgram = async (up: string, env: Variables, run: Run): Promise<BroughtUp> => {
  const hadDocker = await succeeds(run("docker", "version"));
  const before = hadDocker ? await kindClusters(run) : [];
  const printed = await run(up, "--name", name, "--config", config).catch((error: unknown) => {
    throw new NoCluster(`${up} brings up none: ${error instanceof Error ? error.message : error}`, { cause: error });
  });
  const isThere = before.includes(name);
  const own = { ...env, ...exportsOf(printed, env) };
  return {
    env: own,
    isMade: !isThere,
    how: isThere ? "kind's, found" : `kind's, made by ${up}`,
    takeDown: async (again) => {
      if (isThere) return;
      const down = join(dirname(up), "down");
      await again(down, "--name", name);
      if (!hadDocker && (await kindClusters(again)).length === 0) await again(down, "--all");
    },
  };
};

/** Brings up the cluster, or finds it. `folder`: of this run. */
export const bringUp = async (env: Variables, run: Run, folder: string): Promise<BroughtUp> => {
  if (env.KUBECONFIG) return { env, isMade: false, how: "given by KUBECONFIG", takeDown: async () => undefined };
  if (await succeeds(run("docker", "pull", "--quiet", "debian:bookworm-slim"))) return byKind(env, run, folder);
  const up = kindUp(env);
  if (up) return byProgram(up, env, run);
  throw new NoCluster(
    "no cluster: Docker reaches no image registry; give a cluster by KUBECONFIG, or a program by BROWSERPOOL_KIND_UP",
  );
};

/** The name of the cluster in kind; undefined when its nodes are not kind's. */
export const kindNameOf = (providerId: string | undefined): string | undefined =>
  /^kind:\/\/[^/]+\/([^/]+)\//.exec(providerId ?? "")?.[1];
