/**
 * The Secret by which a pod gets its agent's key. The operator creates it before the pod, under a name that follows from the pod's,
 * and finds what is left over by labels and type: so it needs no right to read Secrets.
 */
import type { KeyObject } from "node:crypto";
import type { NewObject, Pod, Secret } from "../../../platform/kube/objects.ts";
import { writeAgentKey } from "../../protocol/agent-key.ts";
import { agentKeyEntry, agentKeySecretName } from "./pod.ts";

/** The type of these Secrets; admission policies and the operator's deletions go by it. */
export const agentKeyType = "browserpool.dev/agent-key";

/** Label: the name of the pod. */
export const keyPodLabel = "browserpool.dev/pod";

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
