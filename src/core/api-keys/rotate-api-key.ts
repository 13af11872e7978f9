import type { Kube } from "../../platform/kube/client.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import type { Projects } from "../projects/projects.ts";
import { type ApiKeyRecord, apiKeyAnnotations, apiKeySecretName, readApiKey } from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";
import { apiKeyNotFound, changeApiKey } from "./change-api-key.ts";
import { type CreatedApiKey, createApiKey, msPerDay } from "./create-api-key.ts";

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
): Promise<ApiKeyRecord> => {
  // The id comes from a URL. Only the id of a known key may become part of a Secret's name.
  if (!apiKeys.find(id)) throw apiKeyNotFound(id);
  const secret = await kube.get(secrets, { name: apiKeySecretName(id), namespace: config.systemNamespace });
  const record = secret && readApiKey(secret);
  if (!record || record.deletedAt !== undefined) throw apiKeyNotFound(id);
  return record;
};

/**
 * Makes a new key with the name, project and permissions of an old one. The old key expires after the grace period, or at its own time if that
 * is earlier. Throws `not_found`, also for a deleted key, `project_not_found`, and `forbidden` for a key that has more than
 * `rotatedBy`: who rotates a key gets the new one.
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
