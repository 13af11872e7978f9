import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { type Permission, permissionsOf } from "../model/permission.ts";
import type { MergePatch } from "../objects/change-object.ts";
import { type ApiKeyRecord, apiKeyAnnotations, grantedTo } from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";
import { changeApiKey } from "./change-api-key.ts";
import { fetchGrantable, refuseForeignLevel, requireGrant } from "./grants.ts";

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
  current: ApiKeyRecord,
  listed: readonly Permission[] | undefined,
  { updatedBy, grantable }: { updatedBy: string; grantable: ReadonlySet<Permission> },
): void => {
  refuseForeignLevel(current.projectId, listed);
  const after = permissionsOf({ projectId: current.projectId, listed });
  // So an organization can't lose its last key by mistake, as with a deletion.
  if (current.id === updatedBy && !after.has("organization"))
    throw new AppError("conflict", "an API key can't take `organization` from itself; use another one");
  requireGrant(after.difference(grantedTo(current)), grantable);
};

const permissionsPatch = async ({ permissions, updatedBy }: ApiKeyUpdate, deps: Deps) => {
  if (permissions === undefined) return () => ({});
  const grantable = await fetchGrantable(updatedBy, deps);
  return (current: ApiKeyRecord): Record<string, string | null> => {
    checkChange(current, permissions ?? undefined, { updatedBy, grantable });
    return { [apiKeyAnnotations.permissions]: permissions?.join(",") ?? null };
  };
};

/**
 * Changes a key's name and permissions. Throws `not_found`, also for a deleted key; `forbidden` for permissions that `updatedBy`
 * lacks, `bad_request` for those that a key of a project can't have, and `conflict` for a key that takes `organization` from itself.
 */
export const updateApiKey = async (id: string, update: ApiKeyUpdate, deps: Deps): Promise<ApiKeyRecord> => {
  const permissionsOfKey = await permissionsPatch(update, deps);
  return changeApiKey(id, deps, (current): MergePatch => {
    const name = update.name === undefined ? {} : { [apiKeyAnnotations.name]: update.name };
    return { metadata: { annotations: { ...name, ...permissionsOfKey(current) } } };
  });
};
