import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { NamespacedRef, Secret } from "../../platform/kube/objects.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import {
  apiKeySecret,
  apiKeySecretName,
  digestApiKey,
  grantedTo,
  isUsable,
  maskApiKey,
  newApiKey,
  readApiKey,
} from "../api-keys/api-key-secret.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";

/** 24 characters like every id, always the same for one key. The digest reveals nothing about the key. */
const idOf = (key: string): string => `k${digestApiKey(key).slice(0, 23)}`;

/**
 * Creates the Secret of this organization key if it is missing. Returns false when the key was deleted, has expired, or
 * may not manage the organization any more: it stays so, and the caller makes another one with `newApiKey`.
 */
export const ensureOrganizationKey = async ({
  kube,
  namespace,
  key,
  name,
}: {
  kube: Kube;
  /** The system namespace; it must exist. */
  namespace: string;
  key: string;
  /** The key's name in lists. */
  name: string;
}): Promise<boolean> => {
  const id = idOf(key);
  const record = {
    id,
    name,
    maskedKey: maskApiKey(key),
    projectId: undefined,
    createdAt: new Date().toISOString(),
    createdBy: "system",
    expiresAt: undefined,
    deletedAt: undefined,
    lifetimeDays: undefined,
    permissions: undefined,
  };
  try {
    await kube.create(secrets, apiKeySecret(record, key, namespace));
    return true;
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
  const known = await kube.get(secrets, { name: apiKeySecretName(id), namespace });
  const knownRecord = known && readApiKey(known);
  if (!knownRecord || !isUsable(knownRecord, Date.now())) return false;
  return grantedTo(knownRecord).has("organization");
};

type InitialKeyOptions = {
  kube: Kube;
  /** The system namespace. */
  namespace: string;
  /** The Secret for the key; undefined: no key is made. */
  secretName: string | undefined;
  apiKeys: Pick<ApiKeys, "list">;
  log: Logger;
};

const dataKey = "api-key";

const keyIn = ({ data }: Secret): string =>
  Buffer.from(data?.[dataKey] ?? "", "base64")
    .toString()
    .trim();

/**
 * Writes a new key into the Secret, replacing the key of `left`. When replicas do it at the same time, one wins and all
 * get its key.
 */
const leaveKey = async (ref: NamespacedRef, left: Secret | undefined, kube: Kube): Promise<string> => {
  const key = newApiKey();
  const data = { [dataKey]: Buffer.from(key).toString("base64") };
  const labels = { "browserpool.dev/kind": "initial-key" };
  try {
    if (left) await kube.patch(secrets, ref, { metadata: { resourceVersion: left.metadata.resourceVersion }, data });
    else await kube.create(secrets, { metadata: { ...ref, labels }, type: "Opaque", data });
    return key;
  } catch (error) {
    if (!hasReason(error, "AlreadyExists") && !hasReason(error, "Conflict")) throw error;
  }
  const theirs = await kube.get(secrets, ref);
  if (!theirs) throw new Error(`Secret ${ref.namespace}/${ref.name} vanished while it was being read`);
  return keyIn(theirs);
};

/**
 * Makes the first key of an organization without a usable key, in a Secret that the administrator fetches and deletes.
 * It writes that Secret first and makes the key from it. So there is one key even if the replica dies in between or
 * others start at the same time. `apiKeys` must be synced.
 */
export const leaveInitialKey = async (options: InitialKeyOptions): Promise<void> => {
  const { kube, namespace, secretName, apiKeys, log } = options;
  // A key without the permission to make keys can't help an organization that has no other.
  const hasKey = apiKeys.list().some((key) => grantedTo(key).has("organization") && isUsable(key, Date.now()));
  if (secretName === undefined || hasKey) return;
  const ref = { name: secretName, namespace };
  const ensure = (key: string): Promise<boolean> => ensureOrganizationKey({ kube, namespace, key, name: "initial" });
  const left = await kube.get(secrets, ref);
  // An old Secret may contain a key that was deleted meanwhile.
  if (left && keyIn(left) !== "" && (await ensure(keyIn(left)))) return;
  await ensure(await leaveKey(ref, left, kube));
  log.info(
    { secret: `${namespace}/${secretName}` },
    "made the organization's first API key: fetch it, then delete the Secret",
  );
};
