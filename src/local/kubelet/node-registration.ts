import { arch, cpus, totalmem } from "node:os";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import { leases, nodes } from "../../platform/kube/resource-type.ts";

/** The same as a kubelet's: a node whose lease is 40 s old counts as lost. */
const heartbeatMs = 10_000;
const leaseSeconds = 40;

/** The host address in the status of every pod of this node. */
export const hostAddress = "127.0.0.1";

type NodeRegistrationOptions = { kube: Kube; nodeName: string; maxPods: number; log: Logger };

export type NodeRegistration = {
  /** Ends the heartbeat and, if the API still answers, reports that the node is not ready. */
  stop(): Promise<void>;
};

const labelsOf = (nodeName: string): Record<string, string> => ({
  "kubernetes.io/hostname": nodeName,
  "kubernetes.io/os": "linux",
  "kubernetes.io/arch": arch() === "x64" ? "amd64" : arch(),
});

const statusOf = (nodeName: string, maxPods: number, ready: { status: boolean; since: string }): object => {
  const resources = { pods: `${maxPods}`, cpu: `${cpus().length}`, memory: `${Math.floor(totalmem() / 1024)}Ki` };
  return {
    addresses: [
      { type: "InternalIP", address: hostAddress },
      { type: "Hostname", address: nodeName },
    ],
    capacity: resources,
    allocatable: resources,
    conditions: [
      {
        type: "Ready",
        status: ready.status ? "True" : "False",
        reason: ready.status ? "LocalKubeletReady" : "LocalKubeletStopped",
        message: ready.status ? "pods run as processes of this machine" : "the local kubelet was stopped",
        lastHeartbeatTime: new Date().toISOString(),
        lastTransitionTime: ready.since,
      },
    ],
  };
};

/** Creates the Node and its Lease if they are missing, and renews them. Rejects when the first heartbeat fails. */
export const registerNode = async (options: NodeRegistrationOptions): Promise<NodeRegistration> => {
  const { kube, nodeName, maxPods, log } = options;
  const leaseRef = { namespace: "kube-node-lease", name: nodeName };
  const since = new Date().toISOString();

  const createNode = async (): Promise<void> => {
    await kube.create(nodes, { metadata: { name: nodeName, labels: labelsOf(nodeName) } });
    // Admission taints every new node as not ready, and there is no controller that would remove the taint.
    await kube.patch(nodes, { name: nodeName }, { spec: { taints: null } });
  };
  const renewLease = async (): Promise<void> => {
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: nodeName, leaseDurationSeconds: leaseSeconds, renewTime };
    try {
      await kube.patch(leases, leaseRef, { spec });
    } catch (error) {
      if (!hasReason(error, "NotFound")) throw error;
      await kube.create(leases, { metadata: leaseRef, spec });
    }
  };
  const report = (ready: boolean): Promise<unknown> => {
    const status = statusOf(nodeName, maxPods, { status: ready, since: ready ? since : new Date().toISOString() });
    return kube.patch(nodes, { name: nodeName }, { status }, { subresource: "status" });
  };
  const beat = async (): Promise<void> => {
    try {
      await report(true);
    } catch (error) {
      if (!hasReason(error, "NotFound")) throw error;
      await createNode();
      await report(true);
    }
    await renewLease();
  };

  await beat();
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beat().catch((err: unknown) => log.warn({ err, node: nodeName }, "node heartbeat failed"));
  }, heartbeatMs);
  return {
    async stop() {
      clearInterval(timer);
      // One that is under way would say afterwards that the node is ready.
      await beating;
      await report(false).catch((err: unknown) => log.debug({ err, node: nodeName }, "node could not sign off"));
    },
  };
};
