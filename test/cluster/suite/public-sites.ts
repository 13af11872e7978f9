/**
 * A small internet in the cluster. One node has a public address, CoreDNS leads names below `.example` there, and a pod
 * serves their sites: the product is installed as anywhere, and no test override of it is on. Other names lead to
 * private addresses, where pages lie, too.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { configMaps, pods } from "../../../src/platform/kube/resource-type.ts";
import type { Lane } from "../lane.ts";
import { giveAddresses, metadataAddress, publicAddress } from "./node-addresses.ts";
import { jsonPath } from "./probes.ts";
import { until } from "./until.ts";

const testFolder = resolve(import.meta.dirname, "../..");

/**
 * Of the small internet of the other tests, those that need nothing but each other, and the program that serves them
 * here.
 */
const files = ["cluster/sites/serve.ts", "support/internet/site.ts", "support/internet/sites.ts"];

/** A namespace without rules for pods. */
const namespace = "kube-system";
const dns = { namespace, name: "coredns" };
const neighbourPort = 8080;

export type PublicSites = AsyncDisposable & {
  /** The address of a pod that has pages and no rules. */
  neighbour: { host: string; port: number };
  /** What was asked for at private addresses, a line a request. */
  privateRequests(): Promise<string[]>;
  /** Asks for each private page from a pod that may. */
  askPrivately(): Promise<void>;
};

const keyOf = (file: string): string => file.replaceAll("/", "_");

type PodOrder = { name: string; node: string; filesName: string; order: object; hostNetwork: boolean };

const podOf = ({ images }: Lane, { name, node, filesName, order, hostNetwork }: PodOrder): Pod =>
  ({
    metadata: { name, namespace },
    spec: {
      hostNetwork,
      nodeName: node,
      restartPolicy: "Never",
      containers: [
        {
          name: "sites",
          image: `${images.prefix}/service:${images.tag}`,
          imagePullPolicy: "IfNotPresent",
          command: ["node", `/sites/${files[0]}`, JSON.stringify(order)],
          securityContext: { runAsUser: 0 },
          volumeMounts: [{ name: "sites", mountPath: "/sites" }],
        },
      ],
      volumes: [
        {
          name: "sites",
          configMap: { name: filesName, items: files.map((path) => ({ key: keyOf(path), path })) },
        },
      ],
    },
  }) as Pod;

const noOrder = { listen: [], redirects: {}, curiousOf: [] };

/** What these tests write into the Corefile, also when a run was stopped before it took that back. */
const ownBlock = /^ *hosts \{\n[^}]*\.example\n[^}]*\}\n/m;

/**
 * Adds names to those that CoreDNS knows. Its pods are made anew: they read a changed file within a minute or two only.
 * Taken back by the client alone, which goes on when the run is stopped; nobody waits for that.
 */
const giveNames = async ({ kube, kubectl }: Lane, names: Record<string, string>): Promise<AsyncDisposable> => {
  const write = async (change: (corefile: string) => string): Promise<void> => {
    const known = await kube.get(configMaps, dns);
    const corefile = known?.data?.Corefile?.replace(ownBlock, "");
    if (!known || !corefile?.includes("    forward .")) throw new Error("CoreDNS has another Corefile than kind's");
    const metadata = { ...known.metadata, ...dns };
    await kube.replace(configMaps, { ...known, metadata, data: { ...known.data, Corefile: change(corefile) } });
  };
  const lines = Object.entries(names).map(([name, address]) => `        ${address} ${name}.example`);
  const block = ["    hosts {", ...lines, "        fallthrough", "    }", ""].join("\n");
  await write((corefile) => corefile.replace("    forward .", `${block}    forward .`));
  const deployment = ["deployment/coredns", "--namespace", namespace];
  await kubectl("rollout", "restart", ...deployment);
  await kubectl("rollout", "status", ...deployment, "--timeout", "2m");
  return { [Symbol.asyncDispose]: () => write((corefile) => corefile) };
};

/** Sites that redirect to a private page, and where it is. */
const leading = (host: string): Record<string, string> => ({
  "leads-to-a-pod": `http://${host}:${neighbourPort}/`,
  "leads-to-metadata": `http://${metadataAddress}/latest/meta-data/`,
});

/** Starts the sites; only where nodes are kind's. Disposing of it leaves the cluster as it was. */
export const startPublicSites = async (lane: Lane): Promise<PublicSites> => {
  await using stack = new AsyncDisposableStack();
  const { kube, kubectl, signal } = lane;
  const { node } = stack.use(await giveAddresses(lane, [publicAddress, metadataAddress]));
  // Of this run: what another one has left may still end.
  const suffix = Date.now().toString(36);
  const filesName = `browserpool-test-sites-${suffix}`;
  const texts = await Promise.all(files.map((file) => readFile(resolve(testFolder, file), "utf8")));
  const data = Object.fromEntries(files.map((file, index) => [keyOf(file), texts[index] ?? ""]));
  await kube.create(configMaps, { metadata: { name: filesName, namespace }, data });
  stack.defer(() => kube.delete(configMaps, { namespace, name: filesName }));

  const start = async (name: string, order: object, hostNetwork = false): Promise<string> => {
    await kube.create(pods, podOf(lane, { name, node, filesName, order, hostNetwork }));
    stack.defer(() => kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 1 }));
    return until(
      `${name} runs`,
      async () => {
        const { status } = (await kube.get(pods, { namespace, name })) ?? {};
        return status?.phase === "Running" && status.podIP;
      },
      { signal },
    );
  };
  const neighbourName = `browserpool-test-neighbour-${suffix}`;
  const host = await start(neighbourName, { ...noOrder, listen: [{ host: "0.0.0.0", port: neighbourPort }] });
  const redirects = leading(host);
  const sitesName = `browserpool-test-public-${suffix}`;
  const curiousOf = [...Object.values(redirects), `http://name-of-a-pod.example:${neighbourPort}/`];
  await start(sitesName, { listen: [{ host: publicAddress, port: 80 }], redirects, curiousOf }, true);
  const metadataName = `browserpool-test-metadata-${suffix}`;
  await start(metadataName, { ...noOrder, listen: [{ host: metadataAddress, port: 80 }] }, true);

  const apiServer = await jsonPath(lane, "{.spec.clusterIP}", "service", "kubernetes", "--namespace", "default");
  const published = ["open-shop", "no-headless", "curious", "patient", ...Object.keys(redirects)];
  stack.use(
    await giveNames(lane, {
      ...Object.fromEntries(published.map((name) => [name, publicAddress])),
      "name-of-a-pod": host,
      "name-of-the-api": apiServer,
    }),
  );
  const requestsOf = async (name: string): Promise<string[]> =>
    (await kubectl("logs", name, "--namespace", namespace)).split("\n").filter((line) => line.includes(" /"));
  const kept = stack.move();
  return {
    neighbour: { host, port: neighbourPort },
    async askPrivately() {
      const urls = [redirects["leads-to-a-pod"], redirects["leads-to-metadata"]];
      const script = `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url)))`;
      await kubectl("exec", sitesName, "--namespace", namespace, "--", "node", "--eval", script);
    },
    privateRequests: async () => [...(await requestsOf(neighbourName)), ...(await requestsOf(metadataName))],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};
