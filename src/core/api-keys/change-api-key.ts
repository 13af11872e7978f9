import { AppError, ambiguousName } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { changeObject, type MergePatch } from "../objects/change-object.ts";
import { type ApiKeyRecord, apiKeySecretName, readApiKey } from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";

/** The same error for a key that never existed and for one that was deleted. */
export const apiKeyNotFound = (id: string): AppError => new AppError("not_found", `no API key ${id}`);

/**
 * The id of the key with this id, else of the only one with this name that is not deleted. Throws `not_found`, and
 * `ambiguous_api_key_name`.
 */
export const apiKeyId = (idOrName: string, { apiKeys }: { apiKeys: ApiKeys }): string => {
  if (apiKeys.find(idOrName)) return idOrName;
  const named = apiKeys.list().filter(({ name, deletedAt }) => name === idOrName && deletedAt === undefined);
  const [only] = named;
  if (!only) throw apiKeyNotFound(idOrName);
  const ids = named.map(({ id }) => id).sort();
  if (ids.length > 1) throw ambiguousName("ambiguous_api_key_name", `API keys are named ${idOrName}`, ids);
  return only.id;
};

/** Changes the Secret of a key that is not deleted; `change` gets the key as the API server has it. Throws `not_found`. */
export const changeApiKey = async (
  id: string,
  { kube, config, apiKeys }: { apiKeys: ApiKeys; config: Config; kube: Kube },
  change: (current: ApiKeyRecord) => MergePatch,
): Promise<ApiKeyRecord> => {
  // The id comes from a URL. Only the id of a known key may become part of a Secret's name.
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
