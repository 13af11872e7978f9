/** Creates the Secrets with agents' keys, and deletes those whose pods are gone. */
import type { KeyObject } from "node:crypto";
import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Expectations } from "../../../platform/kube/expectations.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import type { ObjectGroups } from "../../../platform/kube/object-groups.ts";
import { keyOf, type NewObject, type Pod, type Secret } from "../../../platform/kube/objects.ts";
import { secrets } from "../../../platform/kube/resource-type.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { type AgentKeys, suffixAlphabet, writeAgentKey } from "../../protocol/agent-key.ts";
import { agentKeyEntry, agentKeySecretName, poolLabel } from "../pod/pod.ts";

// The Secret by which a pod gets its agent's key. The operator creates it before the pod, under a name that follows
// from the pod's, and finds what is left over by labels and type: so it needs no right to read Secrets.

/** The type of these Secrets; admission policies and the operator's deletions go by it. */
export const agentKeyType = "browserpool.dev/agent-key";

/** Label: the name of the pod. */
const keyPodLabel = "browserpool.dev/pod";

/** Label: the end of the pod's name, by which deletions are split. */
const keyEndLabel = "browserpool.dev/pod-end";

const endOf = (pod: string): string => pod.slice(-2);
const allEnds = [...suffixAlphabet].flatMap((one) => [...suffixAlphabet].map((other) => one + other));

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
      labels: { ...ownLabels(labels), [keyPodLabel]: name, [keyEndLabel]: endOf(name) },
      ownerReferences,
    },
    type: agentKeyType,
    immutable: true,
    data: { [agentKeyEntry]: Buffer.from(writeAgentKey(key)).toString("base64") },
  };
};

/** The pods that one request names at most: a URL of some thousand characters is long. */
const podsOfRequest = 64;

/**
 * Label selectors that together select the keys of all pods of a pool but the living ones. None grows with the number
 * of pods; there are more of them instead.
 */
export const selectDead = (poolUid: string, living: readonly string[]): string[] => {
  const but = (pods: readonly string[]): string => (pods.length > 0 ? `,${keyPodLabel} notin (${pods.join(",")})` : "");
  const ofPool = `${poolLabel}=${poolUid}`;
  if (living.length <= podsOfRequest) return [ofPool + but(living)];
  const byEnd = Map.groupBy(living, endOf);
  const parts: { ends: string[]; pods: string[] }[] = [];
  for (const end of allEnds) {
    const pods = byEnd.get(end) ?? [];
    const part = parts.at(-1);
    if (part && part.pods.length + pods.length <= podsOfRequest) {
      part.ends.push(end);
      part.pods.push(...pods);
    } else parts.push({ ends: [end], pods: [...pods] });
  }
  return parts.map(({ ends, pods }) => `${ofPool},${keyEndLabel} in (${ends.join(",")})${but(pods)}`);
};

/** What a sweep is about: all keys without a pod, or those of pods with these names. */
type Sweep = "all" | string[];

/**
 * Which Secrets may have no pod. At the start of a lead they are those of every pool: the leader before may have died.
 */
export type KeySweeps = {
  /** This pod of the pool is gone, or was not created after its Secret. */
  request(poolUid: string, pod: string): void;
  /** The sweep that is due, if any; from then on it counts as done. */
  take(poolUid: string): Sweep | undefined;
  /** A sweep that was taken could not be done. */
  putBack(poolUid: string, sweep: Sweep): void;
  /** The pool is gone. */
  forget(poolUid: string): void;
};

/** Keeps in memory which pools were swept, and the pods that have gone since then. */
export const createKeySweeps = (): KeySweeps => {
  const gone = new Map<string, Set<string>>();
  const request = (poolUid: string, pod: string): void => void gone.get(poolUid)?.add(pod);
  return {
    request,
    take(poolUid) {
      const pods = gone.get(poolUid);
      if (pods?.size === 0) return undefined;
      gone.set(poolUid, new Set());
      return pods ? [...pods] : "all";
    },
    putBack(poolUid, sweep) {
      if (sweep === "all") gone.delete(poolUid);
      else for (const pod of sweep) request(poolUid, pod);
    },
    forget: (poolUid) => void gone.delete(poolUid),
  };
};

type KeyDeps = { kube: Pick<Kube, "create" | "delete" | "deleteAll">; agentKeys: Pick<AgentKeys, "keyOf"> };

/** Creates the Secret of a pod that is about to be created. */
export const createAgentKey = async (pod: NewObject<Pod>, { kube, agentKeys }: KeyDeps): Promise<void> => {
  await kube.create(secrets, buildAgentKeySecret(pod, agentKeys.keyOf(pod.metadata.name)));
};

const deleteSelected = (namespace: string, labelSelector: string, { kube }: Pick<KeyDeps, "kube">): Promise<void> =>
  kube.deleteAll(secrets, { namespace, labelSelector, fieldSelector: `type=${agentKeyType}` });

/** Deletes the Secrets of all pods of a pool. */
export const deleteAgentKeys = async (
  { metadata: { namespace, uid } }: BrowserPool,
  deps: Pick<KeyDeps, "kube">,
): Promise<void> => {
  for (const selector of selectDead(uid, [])) await deleteSelected(namespace, selector, deps);
};

type SweepDeps = Pick<KeyDeps, "kube"> & {
  keySweeps: KeySweeps;
  podsByOwner: Pick<ObjectGroups<Pod>, "of">;
  expectations: Pick<Expectations, "pendingNames">;
  lead: Pick<Lead, "check">;
  log: Logger;
};

/** Deletions by name that run at the same time. */
const deletedAtOnce = 16;

const sweep = async ({ metadata: { namespace, uid } }: BrowserPool, what: Sweep, deps: SweepDeps): Promise<void> => {
  // As they are at this moment, not as the round has observed them: a pod that has come since then needs its key.
  const living = deps.podsByOwner.of(uid).map(({ metadata }) => metadata.name);
  const pending = deps.expectations.pendingNames(uid);
  if (what === "all") {
    for (const selector of selectDead(uid, [...living, ...pending])) await deleteSelected(namespace, selector, deps);
    return;
  }
  const kept = new Set([...living, ...pending]);
  const dead = what.filter((pod) => !kept.has(pod));
  for (let index = 0; index < dead.length; index += deletedAtOnce)
    await Promise.all(
      dead
        .slice(index, index + deletedAtOnce)
        .map((pod) => deps.kube.delete(secrets, { namespace, name: agentKeySecretName(pod) })),
    );
};

/**
 * If a sweep is due, deletes the pool's Secrets without a pod. Call it before new Secrets are created. A failure is only
 * logged, and the next round tries again: a key without a pod opens nothing.
 */
export const sweepAgentKeys = async (pool: BrowserPool, deps: SweepDeps): Promise<void> => {
  const { uid } = pool.metadata;
  const due = deps.keySweeps.take(uid);
  if (!due) return;
  deps.lead.check();
  try {
    await sweep(pool, due, deps);
  } catch (error) {
    deps.keySweeps.putBack(uid, due);
    deps.log.warn({ err: error, pool: keyOf(pool.metadata) }, "keys of agents that are gone were not deleted");
  }
};
