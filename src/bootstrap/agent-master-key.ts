import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Kube } from "../kube/client.ts";
import type { NamespacedRef, NewObject, Secret } from "../kube/objects.ts";
import { readOrCreateSecret } from "./own-secret.ts";

/**
 * The key from which those of all agents are computed (src/protocol/agent-key.ts). `sinceMs`: when this installation began to have
 * one, ms since 1970 by the API server's clock; browsers that are older have no key.
 */
type AgentMasterKey = { key: KeyObject; sinceMs: number };

const secretName = "agent-master-key";
const dataKey = "key";
const keyBytes = 32;

const newSecret = (ref: NamespacedRef): NewObject<Secret> => ({
  metadata: { ...ref, labels: { "browserpool.dev/kind": "agent-master-key" } },
  type: "browserpool.dev/agent-master-key",
  // With another key no browser could prove itself, so the Secret can't be edited by mistake. To change the key, delete the Secret.
  immutable: true,
  data: { [dataKey]: randomBytes(keyBytes).toString("base64") },
});

const parse = ({ data, metadata }: Secret): AgentMasterKey => {
  const bytes = Buffer.from(data?.[dataKey] ?? "", "base64");
  if (bytes.length !== keyBytes)
    throw new Error(`Secret ${metadata.namespace}/${metadata.name} holds no key of ${keyBytes} bytes under ${dataKey}`);
  return { key: createSecretKey(bytes), sinceMs: Date.parse(metadata.creationTimestamp ?? "") };
};

/** Reads the key from the Secret `agent-master-key`, or creates that Secret. Throws an `Error` when it contains anything else. */
export const loadAgentMasterKey = async (deps: { kube: Kube; namespace: string }): Promise<AgentMasterKey> =>
  parse(await readOrCreateSecret(deps.kube, { name: secretName, namespace: deps.namespace }, newSecret));
