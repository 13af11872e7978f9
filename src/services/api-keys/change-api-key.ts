import { AppError } from "../../errors.ts";
import { secrets } from "../../kube/resource-type.ts";
import { changeObject, type MergePatch } from "../objects/change-object.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { type ApiKeyRecord, apiKeySecretName, readApiKey } from "./api-key-secret.ts";

/** The same answer for a key that never was and for one that is deleted. */
export const apiKeyNotFound = (id: string): AppError => new AppError("not_found", `no API key ${id}`);

/** Writes to the Secret of a key that is not deleted; `change` sees it as it is in the API server. Throws `not_found`. */
export const changeApiKey = async (
  id: string,
  { kube, config, apiKeys }: Pick<ServiceDeps, "kube" | "config" | "apiKeys">,
  change: (current: ApiKeyRecord) => MergePatch,
): Promise<ApiKeyRecord> => {
  // Ids come from URLs; only one that names a key may become the name of a Secret that is read.
  if (!apiKeys.find(id)) throw apiKeyNotFound(id);
  const ref = { name: apiKeySecretName(id), namespace: config.systemNamespace };
  const written = await changeObject(kube, secrets, ref, (secret) => {
    const current = readApiKey(secret);
    if (!current || current.deletedAt !== undefined) throw apiKeyNotFound(id);
    return change(current);
  });
  const record = written && readApiKey(written);
  if (!record) throw apiKeyNotFound(id);
  apiKeys.put(written);
  return record;
};
