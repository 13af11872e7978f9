import type { Kube } from "../kube/client.ts";
import { hasReason } from "../kube/kube-error.ts";
import { secrets } from "../kube/resource-type.ts";
import {
  apiKeySecret,
  apiKeySecretName,
  digestApiKey,
  isUsable,
  maskApiKey,
  readApiKey,
} from "../services/api-keys/api-key-secret.ts";

/** 24 characters as of every id, the same for the same key. The digest tells nothing about the key. */
const idOf = (key: string): string => `k${digestApiKey(key).slice(0, 23)}`;

/**
 * Makes sure that this key of the organization is known; creates its Secret when there is none. False: the key was
 * deleted or has expired, and stays so; make another one with `newApiKey`.
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
  /** What it is called in lists. */
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
  };
  try {
    await kube.create(secrets, apiKeySecret(record, key, namespace));
    return true;
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
  const known = await kube.get(secrets, { name: apiKeySecretName(id), namespace });
  const knownRecord = known && readApiKey(known);
  return knownRecord !== undefined && isUsable(knownRecord, Date.now());
};
