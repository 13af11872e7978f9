import { randomUUID } from "node:crypto";
import { hasReason } from "../../../src/platform/kube/kube-error.ts";
import type { NewObject, Pod } from "../../../src/platform/kube/objects.ts";
import { namespaces, pods as podType, secrets } from "../../../src/platform/kube/resource-type.ts";
import type { Topology } from "../topology.ts";
import type { Fault, FaultContext } from "./fault.ts";

/** A node that nobody runs: a pod on it has no process, and whoever made it writes its status. */
const noNode = "nowhere";

type Imitation = NewObject<Pod> & { status?: Pod["status"] };

/** The key of the browser's agent, as a thief would have it. */
const stolenKey = async ({ metadata: { name, namespace } }: Pod, { kube }: Topology): Promise<string> => {
  const secret = await kube.get(secrets, { namespace, name: `${name}-agent-key` });
  return Buffer.from(secret?.data?.key ?? "", "base64").toString();
};

/** The spec of a browser's pod, not on a node yet, with this agent's key. */
const specWith = ({ spec }: Pod, key: string): NonNullable<Pod["spec"]> => {
  const { nodeName: _, ...copy } = structuredClone(spec ?? { containers: [] });
  for (const variable of copy.containers[0]?.env ?? [])
    if (variable.name === "BROWSERPOOL_AGENT_KEY") Object.assign(variable, { value: key, valueFrom: undefined });
  return copy;
};

/**
 * All that a pod can have in common with a browser but being its pool's own: one without an owner, one whose owner has
 * another uid, one in another namespace with the same name, owner and even key, and one that claims the browser's
 * address.
 */
const imitationsOf = async (browser: Pod, topology: Topology, otherNamespace: string): Promise<Imitation[]> => {
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = browser.metadata;
  const key = await stolenKey(browser, topology);
  const spec = specWith(browser, key);
  const common = { labels, annotations };
  const wrongOwner = ownerReferences.map((owner) => ({ ...owner, uid: randomUUID() }));
  const suffix = randomUUID().slice(0, 8);
  return [
    { metadata: { name: `no-owner-${suffix}`, namespace, ...common }, spec },
    { metadata: { name: `wrong-owner-${suffix}`, namespace, ...common, ownerReferences: wrongOwner }, spec },
    { metadata: { name, namespace: otherNamespace, ...common, ownerReferences }, spec },
    {
      metadata: { name: `same-address-${suffix}`, namespace, ...common },
      spec: { ...spec, nodeName: noNode },
      status: {
        phase: "Running",
        ...(browser.status?.podIP && { podIP: browser.status.podIP }),
        conditions: [{ type: "Ready", status: "True" }],
      },
    },
  ];
};

/** Those that were made; none of the rest where another fault has the API server away. */
const createAll = async (imitations: Imitation[], { kube }: Topology): Promise<Pod[]> => {
  const all: Pod[] = [];
  for (const { status, ...pod } of imitations) {
    const made = await kube.create(podType, pod).catch(() => undefined);
    if (!made) break;
    all.push(made);
    if (status) await kube.patch(podType, made.metadata, { status }, { subresource: "status" }).catch(() => undefined);
  }
  return all;
};

/** Names of those that somebody has deleted. No other fault touches pods meanwhile, so it was the service. */
const deletedOf = async (made: Pod[], { kube }: Topology): Promise<string[]> => {
  const now = await Promise.all(
    made.map(({ metadata }) => kube.get(podType, metadata).catch(() => "unknown" as const)),
  );
  return made.flatMap(({ metadata }, index) => {
    const pod = now[index];
    if (pod === "unknown") return [];
    return pod?.metadata.uid === metadata.uid && !pod.metadata.deletionTimestamp ? [] : [metadata.name];
  });
};

/** Another fault may have the API server away for a while: it is tried until it is done. */
const removeAll = async (imitations: Imitation[], { topology: { kube }, pause }: FaultContext): Promise<void> => {
  for (const { metadata } of imitations)
    for (let tries = 0; tries < 50; tries++) {
      const isGone = await kube
        .delete(podType, metadata, { gracePeriodSeconds: 0 })
        .then(() => kube.get(podType, metadata))
        .then((pod) => pod === undefined)
        .catch(() => false);
      if (isGone) break;
      await pause(200);
    }
};

/**
 * Pods that imitate a browser stand beside it for a while, with agents that answer. At its end it tells which were
 * deleted.
 */
export const foreignPod: Fault = {
  parts: ["agents"],
  lengthMs: [1000, 6000],
  async run(context) {
    const { topology, pools, random, hold, begin, over } = context;
    const { kube, namespace } = topology;
    const otherNamespace = `foreign-${namespace}`;
    const pool = random.pick(pools.list());
    const labelSelector = `browserpool.dev/pool=${pool.uid}`;
    // Another fault may have the API server away just now.
    const { items } = await kube.list(podType, { namespace, labelSelector }).catch(() => ({ items: [] }));
    const browser = items.find(({ status, metadata }) => status?.podIP && !metadata.deletionTimestamp);
    begin({ pool: pool.uid, pod: browser?.metadata.name });
    if (!browser) return;
    await kube.create(namespaces, { metadata: { name: otherNamespace } }).catch((error: unknown) => {
      if (!hasReason(error, "AlreadyExists")) throw error;
    });
    const imitations = await imitationsOf(browser, topology, otherNamespace);
    try {
      const made = await createAll(imitations, topology);
      await hold();
      over({ deleted: await deletedOf(made, topology) });
    } finally {
      await removeAll(imitations, context);
    }
  },
};
