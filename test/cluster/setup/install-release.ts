/** The release under test on a cluster that is ready for it. */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kube } from "../../../src/platform/kube/client.ts";
import { namespaces, pods } from "../../../src/platform/kube/resource-type.ts";
import { connectStack } from "../../support/stack.ts";
import { type Images, type Lane, projectNamespace, type Run, systemNamespace } from "../lane.ts";
import { deploy, initialKey, packageOlderChart, reachableUrl, remove } from "./release.ts";
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

/** `isUpgraded`: first the version that an upgrade comes from. */
const install = async (
  images: Images,
  isUpgraded: boolean,
  { kube, run, folder }: { kube: Kube; run: Run; folder: string },
): Promise<void> => {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted", [ownLabel]: "true" };
  await kube.apply(namespaces, { metadata: { name: systemNamespace, labels } }, { fieldManager: "cluster-tests" });
  await giveLogin(kube);
  const older = { tag: images.previousTag, chartFile: await packageOlderChart(run, folder) };
  await deploy({ prefix: images.prefix, tag: images.tag, ...(isUpgraded && older) }, { kube, run });
};

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
    await install(images, names.includes("upgrade"), { kube, run, folder });
    const { items } = await kube.list(pods, { namespace: systemNamespace });
    return [undefined, `${items.length} pods in ${systemNamespace}${earlier}`];
  });

  const url = await reachableUrl(kube, signal);
  const address = {
    url,
    api_key: await initialKey(kube),
    kubeconfig: await projectKubeconfig(cluster.kubeconfig, folder, run),
    namespace: projectNamespace,
  };
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
    folder,
    signal,
  };
};
