import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import {
  apiKeySecret,
  apiKeySecretName,
  digestApiKey,
  grantedTo,
  isUsable,
  maskApiKey,
  readApiKey,
} from "../api-keys/api-key-secret.ts";

/** 24 characters like every id, always the same for one key. The digest reveals nothing about the key. */
const idOf = (key: string): string => `k${digestApiKey(key).slice(0, 23)}`;

/**
 * Creates the Secret of this organization key if it is missing. Returns false when the key was deleted, has expired, or may
 * not manage the organization any more: it stays so, and the caller makes another one with `newApiKey`.
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
