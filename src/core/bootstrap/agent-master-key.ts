import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedRef, NewObject, Secret } from "../../platform/kube/objects.ts";
import { readOrCreateSecret } from "./own-secret.ts";

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

const parse = ({ data, metadata }: Secret): KeyObject => {
  const bytes = Buffer.from(data?.[dataKey] ?? "", "base64");
  if (bytes.length !== keyBytes)
    throw new Error(`Secret ${metadata.namespace}/${metadata.name} holds no key of ${keyBytes} bytes under ${dataKey}`);
  return createSecretKey(bytes);
};

/**
 * Reads the key from which those of all agents are computed (src/core/protocol/agent-key.ts) from the Secret `agent-master-key`, or creates
 * that Secret. Throws an `Error` when it contains anything else.
 */
export const loadAgentMasterKey = async (deps: { kube: Kube; namespace: string }): Promise<KeyObject> =>
  parse(await readOrCreateSecret(deps.kube, { name: secretName, namespace: deps.namespace }, newSecret));
