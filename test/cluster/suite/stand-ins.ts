/**
 * Addresses that no test machine has: that of the clouds' metadata service, and one in the public internet. On kind they are given to
 * one node, with a server on each, and the other nodes are told the way.
 */
import type { Pod } from "../../../src/kube/objects.ts";
import { nodes, pods } from "../../../src/kube/resource-type.ts";
import type { Lane } from "../lane.ts";
import { until } from "./until.ts";

export type StandIn = { what: string; host: string; port: number; isPublic: boolean };

const addresses: StandIn[] = [
  { what: "metadata address", host: "169.254.169.254", port: 80, isPublic: false },
  // TEST-NET-3 (RFC 5737): public, and nobody's.
  { what: "public internet", host: "203.0.113.10", port: 80, isPublic: true },
];

/** A namespace without rules for pods; servers on a node's own network are for tests only. */
const namespace = "kube-system";
const name = "browserpool-test-addresses";

const serverScript = `
for (const host of ${JSON.stringify(addresses.map(({ host }) => host))})
  require("node:net").createServer((socket) => socket.end()).listen(80, host);
process.on("SIGTERM", () => process.exit(0));
`;

const serverPod = ({ images }: Lane, nodeName: string): Pod =>
  ({
    metadata: { name, namespace },
    spec: {
      hostNetwork: true,
      nodeName,
      restartPolicy: "Never",
      containers: [
        {
          name: "addresses",
          image: `${images.prefix}/service:${images.tag}`,
          imagePullPolicy: "IfNotPresent",
          command: ["node", "--eval", serverScript],
          securityContext: { runAsUser: 0 },
        },
      ],
    },
  }) as Pod;

/** The stand-ins, as far as the cluster allows them: none where nodes are not kind's. Disposing of it takes them back. */
export const standIns = async (lane: Lane): Promise<{ all: StandIn[] } & AsyncDisposable> => {
  await using stack = new AsyncDisposableStack();
  if (lane.cluster.kindName === undefined) return { all: [], [Symbol.asyncDispose]: async () => undefined };
  const { run, kube, signal } = lane;
  const all = (await kube.list(nodes)).items;
  const isControlPlane = ({ metadata }: (typeof all)[number]) =>
    "node-role.kubernetes.io/control-plane" in (metadata.labels ?? {});
  const server = all.find(isControlPlane);
  if (!server) throw new Error("no control plane node");
  const via = server.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
  const on = async (node: string, ...args: string[]) => void (await run("docker", "exec", node, "ip", ...args));

  for (const { host } of addresses) {
    await on(server.metadata.name, "address", "replace", `${host}/32`, "dev", "lo");
    stack.defer(() => on(server.metadata.name, "address", "del", `${host}/32`, "dev", "lo"));
    for (const { metadata } of all.filter((node) => !isControlPlane(node))) {
      await on(metadata.name, "route", "replace", `${host}/32`, "via", via);
      stack.defer(() => on(metadata.name, "route", "del", `${host}/32`, "via", via));
    }
  }
  await kube.create(pods, serverPod(lane, server.metadata.name));
  stack.defer(() => kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 1 }));
  await until(
    "the stand-ins listen",
    async () => (await kube.get(pods, { namespace, name }))?.status?.phase === "Running",
    { signal },
  );
  const kept = stack.move();
  return { all: addresses, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
