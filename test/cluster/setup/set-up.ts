/** What a release is installed on: programs, cluster, images. Each part says how long it took. */
import { delimiter, dirname, join } from "node:path";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import type { Cluster, Images, Run, Variables } from "../lane.ts";
import type { Options } from "../options.ts";
import type { Report } from "../report.ts";
import { provideBaseImages } from "./base-images.ts";
import { bringUp, kindNameOf } from "./cluster.ts";
import { buildImages, distribute, removeImages, sizesOf, tagPrevious } from "./images.ts";
import { forgetMade, noteMade } from "./made.ts";
import { programRunner } from "./programs.ts";
import { buildStore, removeStore, startStore, storeImage } from "./store.ts";

/** Longest time for each thing that is taken back, ms. */
const takeBackMs = 10 * 60_000;

export type Setting = {
  options: Options;
  report: Report;
  env: Variables;
  /** Of this run; it goes with it. */
  folder: string;
  logFile: string;
  signal: AbortSignal;
  /** What is to be taken back at the end, in the reverse order. */
  stack: AsyncDisposableStack;
};

/** The set-up's programs first in PATH, under their own names. */
const withPrograms = async (env: Variables, folder: string, run: Run): Promise<Variables> => {
  const found = locatePrograms(env);
  const bin = join(folder, "bin");
  await run("mkdir", "-p", bin);
  for (const name of ["helm", "kind", "kubectl"] as const)
    if (found[name]) await run("ln", "-sf", found[name], join(bin, name));
  return { ...env, PATH: [bin, dirname(process.execPath), env.PATH].join(delimiter) };
};

/** The image as the chart's own values have it. */
const redisImageOf = async (run: Run): Promise<string> => {
  const chart = join(import.meta.dirname, "../../../charts/browserpool");
  const values = join(chart, "ci/required-values.yaml");
  const only = "templates/redis/statefulset.yaml";
  const rendered = await run("helm", "template", "any", chart, "--values", values, "--show-only", only);
  const image = /image: "?([^"\s]+)/.exec(rendered)?.[1];
  if (!image) throw new Error("the chart renders no image of Redis");
  return image.replace(/^docker\.io\/library\//, "");
};

/** Rejects when it is of another version than the one that is `wanted`. */
const describeCluster = async (kube: Kube, how: string, wanted: string | undefined): Promise<string> => {
  const { items } = await kube.list(nodes);
  const version = items[0]?.status?.nodeInfo?.kubeletVersion;
  if (wanted !== undefined && version !== `v${wanted}`)
    throw new Error(`the cluster is of Kubernetes ${version}: give one of v${wanted}, or a program that makes it`);
  return `${items.length} nodes, Kubernetes ${version} (${how})`;
};

/** A cluster with the images in it, and nothing installed. */
export type Ground = {
  cluster: Cluster;
  /** Whether it is this run's own, and ends with it. */
  isMade: boolean;
  images: Images;
  /** With the rights of the cluster's administrator. */
  kube: Kube;
  /** Programs that reach the cluster. */
  run: Run;
  /** The same, also when the run is stopped, but not for ever: for what is taken back. */
  lastly: () => Run;
};

/** Brings up cluster and images; rejects with what could not be had. What is there by then is on the stack. */
export const setUp = async (setting: Setting): Promise<Ground> => {
  const { options, report, folder, logFile, signal, stack } = setting;
  const runnerFor = (env: Variables) => programRunner(env, { logFile, signal });
  const own = await withPrograms(setting.env, folder, runnerFor(setting.env));
  // Taking back goes on when the run is stopped, but not for ever.
  const lastly = (env: Variables) => programRunner(env, { logFile, signal: AbortSignal.timeout(takeBackMs) });
  const abandon = (undo: () => Promise<unknown>): void => {
    if (!options.keep) stack.defer(async () => void (await undo()));
  };

  const brought = await report.step("cluster", async () => {
    const up = await bringUp(own, {
      run: runnerFor(own),
      folder,
      version: options.kubernetes,
      async abandon(undo, ifKilled) {
        if (options.keep) return;
        await noteMade(ifKilled);
        abandon(() => undo(lastly(own)).then(forgetMade));
      },
    });
    const kube = connectKube({ ...(up.env.KUBECONFIG && { kubeconfigPath: up.env.KUBECONFIG }) });
    stack.defer(() => kube.close());
    return [{ ...up, kube }, await describeCluster(kube, up.how, options.kubernetes)];
  });
  const { env, kube } = brought;
  const run = runnerFor(env);
  const [first] = (await kube.list(nodes)).items;
  const cluster: Cluster = { kubeconfig: env.KUBECONFIG ?? "", kindName: kindNameOf(first?.spec?.providerID) };
  const prefix = cluster.kindName === undefined ? env.BROWSERPOOL_REGISTRY : "browserpool";
  if (prefix === undefined) throw new Error("the cluster is not kind's: say by BROWSERPOOL_REGISTRY where images go");

  const redisImage = await redisImageOf(run);
  await report.step("base images", async () => {
    const made = await provideBaseImages(redisImage, run, folder);
    return [undefined, made.length === 0 ? "all there" : `made ${made.join(", ")}`];
  });
  const tag = options.tag ?? `run-${Date.now().toString(36)}`;
  const images: Images = { prefix, tag, previousTag: `${tag}-previous` };
  await report.step("images", async () => {
    if (options.tag === undefined) {
      abandon(() => removeImages(images, lastly(env)));
      await buildImages(images, run);
    }
    abandon(() => lastly(env)("docker", "image", "rm", storeImage(images)));
    await buildStore(images, { run, folder });
    await tagPrevious(images, run);
    return [undefined, await sizesOf(images, run)];
  });
  await report.step("images to the cluster", async () => {
    const all = await distribute(images, { cluster, kube, run, others: [redisImage] });
    return [undefined, `${all.length} images`];
  });
  await report.step("store of blobs", async () => {
    if (!brought.isMade) abandon(() => removeStore(lastly(env)));
    await startStore(images, { run, folder });
    return [undefined, "an S3 server"];
  });
  return { cluster, isMade: brought.isMade, images, kube, run, lastly: () => lastly(env) };
};
