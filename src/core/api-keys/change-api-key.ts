import { AppError, ambiguousName, invalidInput } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { type Permission, permissionsOf } from "../model/permission.ts";
import { changeObject, type MergePatch } from "../objects/change-object.ts";
import type { Projects } from "../projects/projects.ts";
import { apiKeyAnnotations, apiKeySecretName, grantedTo, readApiKey, type StoredApiKey } from "./api-key-secret.ts";
import type { ApiKeys, Principal } from "./api-keys.ts";
import {
  type CreatedApiKey,
  createApiKey,
  fetchGrantable,
  msPerDay,
  refuseForeignLevel,
  requireGrantable,
} from "./create-api-key.ts";

/** The same error for a key that never existed and for a deleted key. */
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

/**
 * Changes the Secret of a key that is not deleted; `change` gets the key as the API server has it. Throws `not_found`.
 */
const changeApiKey = async (
  id: string,
  { kube, config, apiKeys }: { apiKeys: ApiKeys; config: Config; kube: Kube },
  change: (current: StoredApiKey) => MergePatch,
): Promise<StoredApiKey> => {
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

/** The longest life of a key, days: as of `days_to_expire`. */
const mostDays = 3650;

/**
 * The life of a key that expires at this time (RFC 3339), days. Throws `bad_request` for a time that has passed, is too
 * far, or is after the end of the creating key.
 */
export const daysUntil = (
  expiresAt: string,
  { keyId }: Pick<Principal, "keyId">,
  { apiKeys }: { apiKeys: ApiKeys },
): number => {
  const atMs = Date.parse(expiresAt);
  const days = (atMs - Date.now()) / msPerDay;
  const ownEnd = apiKeys.find(keyId)?.expiresAt;
  const refuse = (message: string) => invalidInput([{ path: "expires_at", message }]);
  if (!(days > 0)) throw refuse("must be in the future");
  if (days > mostDays) throw refuse(`must be within ${mostDays} days`);
  if (ownEnd !== undefined && atMs > Date.parse(ownEnd))
    throw refuse(`must not be after the end of the key that makes this one, ${ownEnd}`);
  return days;
};

type Rotation = {
  /** Lifetime of the new key; null: for ever; undefined: the same as the old key's. */
  daysToExpire: number | null | undefined;
  /** Days for which the old key still works; 0 ends it now. */
  graceDays: number;
  /** Id of the API key of the request. */
  rotatedBy: string;
};

const earlier = (a: string | undefined, b: string): string =>
  a !== undefined && Date.parse(a) < Date.parse(b) ? a : b;

/** The key as the API server has it: this replica's copy may show permissions that it has lost. */
const fetchApiKey = async (
  id: string,
  { kube, config, apiKeys }: { apiKeys: ApiKeys; config: Config; kube: Kube },
): Promise<StoredApiKey> => {
  // The id comes from a URL. Only the id of a known key may become part of a Secret's name.
  if (!apiKeys.find(id)) throw apiKeyNotFound(id);
  const secret = await kube.get(secrets, { name: apiKeySecretName(id), namespace: config.systemNamespace });
  const record = secret && readApiKey(secret);
  if (!record || record.deletedAt !== undefined) throw apiKeyNotFound(id);
  return record;
};

/**
 * Makes a new key with the name, project and permissions of an old one. The old key expires after the grace period, or
 * at its own time if that is earlier. Throws `not_found`, also for a deleted key, `project_not_found`, and `forbidden`
 * for a key that has more than `rotatedBy`: who rotates a key gets the new one.
 */
export const rotateApiKey = async (
  id: string,
  { daysToExpire, graceDays, rotatedBy }: Rotation,
  deps: { apiKeys: ApiKeys; config: Config; kube: Kube; projects: Projects },
): Promise<CreatedApiKey> => {
  const { name, projectId, lifetimeDays, permissions } = await fetchApiKey(id, deps);
  const lifetime = daysToExpire === undefined ? lifetimeDays : (daysToExpire ?? undefined);
  const wanted = { name, projectId, permissions, daysToExpire: lifetime, createdBy: rotatedBy };
  const created = await createApiKey(wanted, deps);
  const endsAt = new Date(Date.now() + graceDays * msPerDay).toISOString();
  try {
    await changeApiKey(id, deps, ({ expiresAt }) => ({
      metadata: { annotations: { [apiKeyAnnotations.expiresAt]: earlier(expiresAt, endsAt) } },
    }));
  } catch (error) {
    // No caller has got the new key. Since the old key's end could not be set, delete the new one.
    const ref = { name: apiKeySecretName(created.record.id), namespace: deps.config.systemNamespace };
    await deps.kube.delete(secrets, ref).catch(() => undefined);
    throw error;
  }
  return created;
};

type ApiKeyUpdate = {
  name?: string | undefined;
  /** Null: all of the key's level. */
  permissions?: readonly Permission[] | null | undefined;
  /** Id of the API key of the request. */
  updatedBy: string;
};

type Deps = { apiKeys: ApiKeys; config: Config; kube: Kube };

/** Throws `forbidden` for a change that adds what can't be passed on; taking away is always possible. */
const checkChange = (
  current: StoredApiKey,
  listed: readonly Permission[] | undefined,
  { updatedBy, grantable }: { updatedBy: string; grantable: ReadonlySet<Permission> },
): void => {
  refuseForeignLevel(current.projectId, listed);
  const after = permissionsOf({ projectId: current.projectId, listed });
  // So an organization can't lose its last key by mistake, as with a deletion.
  if (current.id === updatedBy && !after.has("organization"))
    throw new AppError("conflict", "an API key can't take `organization` from itself; use another one");
  requireGrantable(after.difference(grantedTo(current)), grantable);
};

const permissionsPatch = async ({ permissions, updatedBy }: ApiKeyUpdate, deps: Deps) => {
  if (permissions === undefined) return () => ({});
  const grantable = await fetchGrantable(updatedBy, deps);
  return (current: StoredApiKey): Record<string, string | null> => {
    checkChange(current, permissions ?? undefined, { updatedBy, grantable });
    return { [apiKeyAnnotations.permissions]: permissions?.join(",") ?? null };
  };
};

/**
 * Changes a key's name and permissions. Throws `not_found`, also for a deleted key; `forbidden` for permissions that
 * `updatedBy` lacks, `bad_request` for those that a key of a project can't have, and `conflict` for a key that takes
 * `organization` from itself.
 */
export const updateApiKey = async (id: string, update: ApiKeyUpdate, deps: Deps): Promise<StoredApiKey> => {
  const permissionsOfKey = await permissionsPatch(update, deps);
  return changeApiKey(id, deps, (current): MergePatch => {
    const name = update.name === undefined ? {} : { [apiKeyAnnotations.name]: update.name };
    return { metadata: { annotations: { ...name, ...permissionsOfKey(current) } } };
  });
};

/**
 * Deletes a key for good: removes its hash and keeps its record. `deletedBy`: id of the request's API key. A key can't
 * delete itself (`conflict`), so an organization can't lose its last key by mistake. Throws `not_found`.
 */
export const deleteApiKey = async (
  id: string,
  deletedBy: string,
  deps: { apiKeys: ApiKeys; config: Config; kube: Kube },
): Promise<void> => {
  if (id === deletedBy) throw new AppError("conflict", "an API key can't delete itself; use another one");
  await changeApiKey(id, deps, () => ({
    metadata: { annotations: { [apiKeyAnnotations.deletedAt]: new Date().toISOString() } },
    data: { sha256: null },
  }));
};
