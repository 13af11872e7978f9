/** The release under test on a cluster that is ready for it. */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { namespaces, pods } from "../../../src/platform/kube/resource-type.ts";
import { connectStack } from "../../support/stack.ts";
import { type Lane, projectNamespace, type Run, systemNamespace } from "../lane.ts";
import {
  deploy,
  initialKey,
  olderVersion,
  packageChartAs,
  reachableUrl,
  remove,
  type Version,
  versionOf,
} from "./release.ts";
import type { Ground, Setting } from "./set-up.ts";
import { giveLogin } from "./store.ts";

/** A kubeconfig whose namespace is the default project's, as somebody has it who works in that project. */
const projectKubeconfig = async (kubeconfig: string, folder: string, run: Run): Promise<string> => {
  const file = join(folder, "project-kubeconfig");
  await copyFile(kubeconfig, file);
  await run("kubectl", "--kubeconfig", file, "config", "set-context", "--current", "--namespace", projectNamespace);
  return file;
};

/** On the release's namespace: it is that of cluster tests, which may take it away. */
const ownLabel = "browserpool.dev/cluster-tests";

/**
 * Removes what an earlier run has left with all that was made in it: with `--keep`, or because it was killed and the
 * cluster outlived it. Rejects when the cluster has an installation that is none of these tests.
 */
const removeEarlier = async (kube: Kube, run: Run): Promise<string> => {
  const found = await kube.get(namespaces, { name: systemNamespace });
  if (!found) return "";
  if (!(ownLabel in (found.metadata.labels ?? {})))
    throw new Error(`the cluster has a namespace ${systemNamespace} already: these tests would take it away`);
  await remove(run);
  return ", after that of an earlier run was removed";
};

/** Makes the namespace with what the release needs in it, and deploys it there. */
export const installAnew = async (version: Version, { kube, run }: { kube: Kube; run: Run }): Promise<void> => {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted", [ownLabel]: "true" };
  await kube.apply(namespaces, { metadata: { name: systemNamespace, labels } }, { fieldManager: "cluster-tests" });
  await giveLogin(kube);
  await deploy(version, { kube, run });
};

/** Where the release is, as the files of end-to-end tests read it. */
export const addressOf = async (
  { cluster, kube, run }: Pick<Ground, "cluster" | "kube" | "run">,
  { folder, signal }: { folder: string; signal: AbortSignal },
) => ({
  url: await reachableUrl(kube, signal),
  api_key: await initialKey(kube),
  kubeconfig: await projectKubeconfig(cluster.kubeconfig, folder, run),
  namespace: projectNamespace,
});

/** `names`: of the phases that are to come. */
type Installation = Pick<Setting, "options" | "report" | "folder" | "signal" | "stack"> & { names: string[] };

/**
 * Installs the release anew; one that these tests have installed before is removed. The connections to it are on the
 * stack.
 */
export const installRelease = async (ground: Ground, installation: Installation): Promise<Lane> => {
  const { cluster, isMade, images, kube, run, lastly } = ground;
  const { options, report, folder, signal, stack, names } = installation;
  await report.step("release", async () => {
    const earlier = await removeEarlier(kube, run);
    if (!isMade && !options.keep) stack.defer(() => remove(lastly()));
    const { prefix, tag, previousTag } = images;
    const version = names.includes("upgrade")
      ? versionOf({ prefix, tag: previousTag, chartFile: await packageChartAs(olderVersion, run, folder) })
      : versionOf({ prefix, tag });
    await installAnew(version, { kube, run });
    const { items } = await kube.list(pods, { namespace: systemNamespace });
    return [undefined, `${items.length} pods in ${systemNamespace}${earlier}`];
  });

  const address = await addressOf(ground, { folder, signal });
  const addressFile = join(folder, "address.json");
  await writeFile(addressFile, JSON.stringify(address), { mode: 0o600 });
  const service = connectStack(address);
  stack.use(service);
  return {
    cluster,
    images,
    run,
    kubectl: (...args) => run("kubectl", ...args),
    kube,
    stack: service,
    addressFile,
    draw: options.draw,
    scriptSeconds: options.scriptSeconds,
    platforms: options.platforms,
    folder,
    signal,
  };
};
