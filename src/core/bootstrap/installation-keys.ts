import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { NamespacedRef, NewObject, Secret } from "../../platform/kube/objects.ts";
import { secrets } from "../../platform/kube/resource-type.ts";

/**
 * Reads a Secret, or creates what `make` returns. When replicas start at the same time, one creates it and all get the
 * same. Throws an `Error` when the Secret vanishes meanwhile.
 */
const readOrCreateSecret = async (
  kube: Kube,
  ref: NamespacedRef,
  make: (ref: NamespacedRef) => NewObject<Secret>,
): Promise<Secret> => {
  const known = await kube.get(secrets, ref);
  if (known) return known;
  try {
    return await kube.create(secrets, make(ref));
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
  const made = await kube.get(secrets, ref);
  if (!made) throw new Error(`Secret ${ref.namespace}/${ref.name} vanished while it was being read`);
  return made;
};

const masterKeySecret = "agent-master-key";
const masterKeyField = "key";
const keyBytes = 32;

const newMasterKey = (ref: NamespacedRef): NewObject<Secret> => ({
  metadata: { ...ref, labels: { "browserpool.dev/kind": "agent-master-key" } },
  type: "browserpool.dev/agent-master-key",
  // With another key no browser could prove itself, so the Secret can't be edited by mistake. To change the key, delete
  // the Secret.
  immutable: true,
  data: { [masterKeyField]: randomBytes(keyBytes).toString("base64") },
});

const masterKeyIn = ({ data, metadata }: Secret): KeyObject => {
  const bytes = Buffer.from(data?.[masterKeyField] ?? "", "base64");
  if (bytes.length !== keyBytes)
    throw new Error(
      `Secret ${metadata.namespace}/${metadata.name} holds no key of ${keyBytes} bytes under ${masterKeyField}`,
    );
  return createSecretKey(bytes);
};

/**
 * Reads the key from which the keys of all agents are computed (src/core/protocol/agent-key.ts) from the Secret
 * `agent-master-key`, or creates that Secret. Throws an `Error` when it contains anything else.
 */
export const loadAgentMasterKey = async (deps: { kube: Kube; namespace: string }): Promise<KeyObject> =>
  masterKeyIn(await readOrCreateSecret(deps.kube, { name: masterKeySecret, namespace: deps.namespace }, newMasterKey));

/** Ed25519. The private key signs tokens for sessions and for agents, the public key checks them. */
export type SigningKey = { privateKey: KeyObject; publicKey: KeyObject };

const signingKeySecret = "signing-key";
const signingKeyField = "private-key.pem";

const newSigningKey = (ref: NamespacedRef): NewObject<Secret> => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  return {
    metadata: { ...ref, labels: { "browserpool.dev/kind": "signing-key" } },
    type: "browserpool.dev/signing-key",
    // A changed key makes all tokens invalid, so the Secret can't be edited by mistake. To change the key, delete the
    // Secret.
    immutable: true,
    data: { [signingKeyField]: Buffer.from(pem).toString("base64") },
  };
};

const signingKeyIn = ({ data, metadata }: Secret): SigningKey => {
  const where = `Secret ${metadata.namespace}/${metadata.name}`;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(Buffer.from(data?.[signingKeyField] ?? "", "base64"));
  } catch {
    // The cause is left out: it could quote the key.
    throw new Error(`${where} holds no private key in PKCS#8 PEM under ${signingKeyField}`);
  }
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error(`${where}: the key must be of type Ed25519`);
  return { privateKey, publicKey: createPublicKey(privateKey) };
};

/**
 * Reads the key from the Secret `signing-key`, or creates that Secret. When replicas start at the same time, one
 * creates it and all get the same key. Throws an `Error` when the Secret contains anything else.
 */
export const loadSigningKey = async ({ kube, namespace }: { kube: Kube; namespace: string }): Promise<SigningKey> =>
  signingKeyIn(await readOrCreateSecret(kube, { name: signingKeySecret, namespace }, newSigningKey));
