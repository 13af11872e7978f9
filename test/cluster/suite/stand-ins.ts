/**
 * The clouds' metadata service and a host in the public internet, as far as connections go: on kind, one node has their
 * addresses.
 */
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import type { Lane } from "../lane.ts";
import { giveAddresses, metadataAddress, publicAddress } from "./node-addresses.ts";
import { until } from "./until.ts";

export type StandIn = { what: string; host: string; port: number; isPublic: boolean };

const addresses: StandIn[] = [
  { what: "metadata address", host: metadataAddress, port: 80, isPublic: false },
  { what: "public internet", host: publicAddress, port: 80, isPublic: true },
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

/**
 * The stand-ins, as far as the cluster allows them: none where nodes are not kind's. Disposing of it takes them back.
 */
export const standIns = async (lane: Lane): Promise<{ all: StandIn[] } & AsyncDisposable> => {
  await using stack = new AsyncDisposableStack();
  if (lane.cluster.kindName === undefined) return { all: [], [Symbol.asyncDispose]: async () => undefined };
  const { kube, signal } = lane;
  const { node } = stack.use(
    await giveAddresses(
      lane,
      addresses.map(({ host }) => host),
    ),
  );
  await kube.create(pods, serverPod(lane, node));
  stack.defer(() => kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 1 }));
  await until(
    "the stand-ins listen",
    async () => (await kube.get(pods, { namespace, name }))?.status?.phase === "Running",
    { signal },
  );
  const kept = stack.move();
  return { all: addresses, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
