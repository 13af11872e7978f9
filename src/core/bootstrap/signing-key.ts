import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedRef, NewObject, Secret } from "../../platform/kube/objects.ts";
import { readOrCreateSecret } from "./own-secret.ts";

/** Ed25519. The private key signs tokens for sessions and for agents, the public key checks them. */
export type SigningKey = { privateKey: KeyObject; publicKey: KeyObject };

const secretName = "signing-key";
const dataKey = "private-key.pem";

const newSecret = (ref: NamespacedRef): NewObject<Secret> => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  return {
    metadata: { ...ref, labels: { "browserpool.dev/kind": "signing-key" } },
    type: "browserpool.dev/signing-key",
    // A changed key makes all tokens invalid, so the Secret can't be edited by mistake. To change the key, delete the Secret.
    immutable: true,
    data: { [dataKey]: Buffer.from(pem).toString("base64") },
  };
};

const parse = ({ data, metadata }: Secret): SigningKey => {
  const where = `Secret ${metadata.namespace}/${metadata.name}`;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(Buffer.from(data?.[dataKey] ?? "", "base64"));
  } catch {
    // The cause is left out: it could quote the key.
    throw new Error(`${where} holds no private key in PKCS#8 PEM under ${dataKey}`);
  }
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error(`${where}: the key must be of type Ed25519`);
  return { privateKey, publicKey: createPublicKey(privateKey) };
};

/**
 * Reads the key from the Secret `signing-key`, or creates that Secret. When replicas start at the same time, one creates it and all
 * get the same key. Throws an `Error` when the Secret contains anything else.
 */
export const loadSigningKey = async ({ kube, namespace }: { kube: Kube; namespace: string }): Promise<SigningKey> =>
  parse(await readOrCreateSecret(kube, { name: secretName, namespace }, newSecret));
