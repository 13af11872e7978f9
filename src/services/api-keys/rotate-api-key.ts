import { secrets } from "../../kube/resource-type.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { apiKeyAnnotations, apiKeySecretName } from "./api-key-secret.ts";
import { apiKeyNotFound, changeApiKey } from "./change-api-key.ts";
import { type CreatedApiKey, createApiKey, msPerDay } from "./create-api-key.ts";

export type Rotation = {
  /** Lifetime of the new key; null: for ever; undefined: the same as the old key's. */
  daysToExpire: number | null | undefined;
  /** Days for which the old key still works; 0 ends it now. */
  graceDays: number;
  /** Id of the API key of the request. */
  rotatedBy: string;
};

const earlier = (a: string | undefined, b: string): string =>
  a !== undefined && Date.parse(a) < Date.parse(b) ? a : b;

/**
 * Makes a new key with the name and project of an old one. The old key expires after the grace period, or at its own time if that
 * is earlier. Throws `not_found`, also for a deleted key, and `project_not_found`.
 */
export const rotateApiKey = async (
  id: string,
  { daysToExpire, graceDays, rotatedBy }: Rotation,
  deps: Pick<ServiceDeps, "kube" | "config" | "apiKeys" | "projects">,
): Promise<CreatedApiKey> => {
  const old = deps.apiKeys.find(id);
  if (!old || old.deletedAt !== undefined) throw apiKeyNotFound(id);
  const { name, projectId, lifetimeDays } = old;
  const lifetime = daysToExpire === undefined ? lifetimeDays : (daysToExpire ?? undefined);
  const created = await createApiKey({ name, projectId, daysToExpire: lifetime, createdBy: rotatedBy }, deps);
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
