/** Creates the Secrets with agents' keys, and deletes those whose pods are gone. */
import type { KeyObject } from "node:crypto";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { keyOf, type NewObject, type Pod, type Secret } from "../../../platform/kube/objects.ts";
import { secrets } from "../../../platform/kube/resource-type.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { type AgentKeys, writeAgentKey } from "../../protocol/agent-key.ts";
import { agentKeyEntry, agentKeySecretName, poolLabel } from "../pod/pod.ts";

// The Secret by which a pod gets its agent's key. The operator creates it before the pod, under a name that follows
// from the pod's, and finds what is left over by labels and type: so it needs no right to read Secrets.

/** The type of these Secrets; admission policies and the operator's deletions go by it. */
export const agentKeyType = "browserpool.dev/agent-key";

/** Label: the name of the pod. */
const keyPodLabel = "browserpool.dev/pod";

const ownPrefix = "browserpool.dev/";

const ownLabels = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name.startsWith(ownPrefix)));

/** The Secret for a new pod: it has the pod's owner and the labels that name it. */
export const buildAgentKeySecret = ({ metadata }: NewObject<Pod>, key: KeyObject): NewObject<Secret> => {
  const { name, namespace, labels = {}, ownerReferences = [] } = metadata;
  return {
    metadata: {
      name: agentKeySecretName(name),
      namespace,
      labels: { ...ownLabels(labels), [keyPodLabel]: name },
      ownerReferences,
    },
    type: agentKeyType,
    immutable: true,
    data: { [agentKeyEntry]: Buffer.from(writeAgentKey(key)).toString("base64") },
  };
};

/**
 * Which pools may have Secrets without a pod. At the start of a lead it is every pool: the leader before may have died.
 */
export type KeySweeps = {
  /** A pod of this pool is gone, or was not created after its Secret. */
  request(poolUid: string): void;
  /** Whether a sweep is due; from then on it counts as done. */
  take(poolUid: string): boolean;
  /** The pool is gone. */
  forget(poolUid: string): void;
};

/** Keeps the pools that were swept, in memory. */
export const createKeySweeps = (): KeySweeps => {
  const swept = new Set<string>();
  return {
    request: (poolUid) => void swept.delete(poolUid),
    take(poolUid) {
      if (swept.has(poolUid)) return false;
      swept.add(poolUid);
      return true;
    },
    forget: (poolUid) => void swept.delete(poolUid),
  };
};

type KeyDeps = { kube: Pick<Kube, "create" | "deleteAll">; agentKeys: Pick<AgentKeys, "keyOf"> };

/** Creates the Secret of a pod that is about to be created. */
export const createAgentKey = async (pod: NewObject<Pod>, { kube, agentKeys }: KeyDeps): Promise<void> => {
  await kube.create(secrets, buildAgentKeySecret(pod, agentKeys.keyOf(pod.metadata.name)));
};

const deleteKeys = (
  { metadata: { namespace, uid } }: BrowserPool,
  { kube }: Pick<KeyDeps, "kube">,
  living: string[] = [],
): Promise<void> => {
  const but = living.length > 0 ? `,${keyPodLabel} notin (${living.join(",")})` : "";
  return kube.deleteAll(secrets, {
    namespace,
    labelSelector: `${poolLabel}=${uid}${but}`,
    fieldSelector: `type=${agentKeyType}`,
  });
};

/** Deletes the Secrets of all pods of a pool. */
export const deleteAgentKeys = (pool: BrowserPool, deps: Pick<KeyDeps, "kube">): Promise<void> =>
  deleteKeys(pool, deps);

type SweepDeps = Pick<KeyDeps, "kube"> & { keySweeps: KeySweeps; lead: Pick<Lead, "check">; log: Logger };

/**
 * If a sweep is due, deletes the pool's Secrets but for the Secrets of `living` pods. Call it before new Secrets are
 * created. A failure is only logged, and the next round tries again: a key without a pod opens nothing.
 */
export const sweepAgentKeys = async (pool: BrowserPool, living: string[], deps: SweepDeps): Promise<void> => {
  const { uid } = pool.metadata;
  if (!deps.keySweeps.take(uid)) return;
  deps.lead.check();
  try {
    await deleteKeys(pool, deps, living);
  } catch (error) {
    deps.keySweeps.request(uid);
    deps.log.warn({ err: error, pool: keyOf(pool.metadata) }, "keys of agents that are gone were not deleted");
  }
};
