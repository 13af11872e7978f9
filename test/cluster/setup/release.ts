/** The release under test: the chart by the real Helm, and how callers reach its Service. */
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kube } from "../../../src/platform/kube/client.ts";
import type { Node } from "../../../src/platform/kube/objects.ts";
import { nodes, secrets } from "../../../src/platform/kube/resource-type.ts";
import { projectNamespace, type Run, release, systemNamespace, trialsNamespace } from "../lane.ts";
import { TimeOver } from "../time-over.ts";
import { kindNameOf } from "./cluster.ts";

const chart = resolve(import.meta.dirname, "../../../charts/browserpool");
const folder = resolve(import.meta.dirname, "..");

/** As in values.yaml. */
const nodePort = 30_780;

/** How long addresses are tried, ms: on a busy machine rules for a new Service take long to come to every node. */
const reachableMs = 60_000;

/** What is deployed: a chart, and how Helm gets it and what it is given beside the values of these tests. */
export type Version = { chart: string; args: readonly string[] };

/** The chart of this repository, or a package, with images of a run. */
export const versionOf = ({
  prefix,
  tag,
  chartFile = chart,
}: {
  prefix: string;
  tag: string;
  chartFile?: string;
}): Version => {
  const set = {
    "image.repository": `${prefix}/service`,
    "image.tag": tag,
    "browsers.image.repository": `${prefix}/browser`,
    "browsers.image.tag": tag,
  };
  return {
    chart: chartFile,
    args: Object.entries(set).flatMap(([name, value]) => ["--set-string", `${name}=${value}`]),
  };
};

const addressesOf = (node: Node): string[] =>
  (node.status?.addresses ?? []).flatMap(({ type, address }) => (type === "InternalIP" ? address : []));

/** Such as a control plane. */
export const takesNoPods = ({ spec }: Node): boolean =>
  spec?.taints?.some(({ effect }) => effect === "NoSchedule") ?? false;

const valueFiles = async (kube: Kube): Promise<string[]> => {
  const [first] = (await kube.list(nodes)).items;
  const names =
    kindNameOf(first?.spec?.providerID) === undefined ? ["values.yaml"] : ["values.yaml", "kind-values.yaml"];
  return names.map((name) => resolve(folder, name));
};

/** The release before this one, as long as there is none. */
export const olderVersion = "0.0.1";

/** This chart as that of another release. */
export const packageChartAs = async (version: string, run: Run, folder: string): Promise<string> => {
  await run("helm", "package", chart, "--version", version, "--app-version", version, "--destination", folder);
  return resolve(folder, `browserpool-${version}.tgz`);
};

/** Installs the release, or upgrades it, and waits until all of it is ready. */
export const deploy = async (version: Version, { kube, run }: { kube: Kube; run: Run }): Promise<void> => {
  await run(
    ...(["helm", "upgrade", "--install", release, version.chart] as [string, ...string[]]),
    ...["--namespace", systemNamespace, "--wait", "--timeout", "5m"],
    ...(await valueFiles(kube)).flatMap((file) => ["--values", file]),
    ...version.args,
    ...["--set-json", `api.allowedHosts=${JSON.stringify((await kube.list(nodes)).items.flatMap(addressesOf))}`],
  );
};

const loopback = "127.0.0.1";

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/livez`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
};

/** The first address at which the service answers; undefined when none does in time. */
const answering = async (hosts: string[], signal: AbortSignal): Promise<string | undefined> => {
  for (const deadline = performance.now() + reachableMs; hosts.length > 0 && performance.now() < deadline; ) {
    for (const url of hosts.map((host) => `http://${host}:${nodePort}`)) if (await answers(url)) return url;
    await sleep(500, undefined, { signal });
  }
  return undefined;
};

/**
 * The Service through a node that takes no pods, or through kind's port mapping to it where nodes can't be reached
 * (Docker Desktop): such a node is never drained or stopped. Others come into question where there is none, or it does
 * not answer.
 */
export const reachableUrl = async (kube: Kube, signal: AbortSignal): Promise<string> => {
  const { items } = await kube.list(nodes);
  const steady = items.filter(takesNoPods).flatMap(addressesOf);
  const others = items.filter((node) => !takesNoPods(node)).flatMap(addressesOf);
  const ways = steady.length > 0 ? [[...steady, loopback], others] : [[...others, loopback]];
  for (const hosts of ways) {
    const url = await answering(hosts, signal);
    if (url) return url;
  }
  throw new TimeOver(`the API answers on port ${nodePort} of none of ${ways.flat().join(", ")}`);
};

/** The key that the service leaves for its administrator. */
export const initialKey = async (kube: Kube): Promise<string> => {
  const secret = await kube.get(secrets, { namespace: systemNamespace, name: `${release}-initial-key` });
  const key = secret?.data?.["api-key"];
  if (key === undefined) throw new Error("the service has left no initial key");
  return Buffer.from(key, "base64").toString();
};

/** Analyses come first: they make browsers. */
const kinds =
  "siteanalyses,browserpools,browsers,vaults,vaultitems,authconnections,credentials,proxies,profiles,extensions,siteconfigs,siteevidences";

/**
 * Takes away the release and all that it has made: custom resources while the operator can still do its part, then the
 * rest.
 */
export const remove = async (run: Run): Promise<void> => {
  const quietly = (...args: string[]): Promise<string> => run("kubectl", ...args).catch(() => "");
  await quietly("delete", kinds, "--all", "--all-namespaces", "--timeout", "60s");
  await run(
    "helm",
    "uninstall",
    release,
    "--namespace",
    systemNamespace,
    "--ignore-not-found",
    "--wait",
    "--timeout",
    "2m",
  );
  const definitions = (await run("kubectl", "get", "crd", "--output", "name"))
    .split("\n")
    .filter((name) => name.endsWith(".browserpool.dev"));
  if (definitions.length > 0) await run("kubectl", "delete", ...definitions, "--timeout", "60s");
  const namespaces = [systemNamespace, projectNamespace, trialsNamespace];
  await quietly("delete", "namespace", ...namespaces, "--ignore-not-found", "--timeout", "120s");
};
