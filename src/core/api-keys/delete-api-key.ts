import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import { apiKeyAnnotations } from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";
import { changeApiKey } from "./change-api-key.ts";

/**
 * Deletes a key for good: removes its hash and keeps its record. `deletedBy`: id of the request's API key. A key can't delete itself
 * (`conflict`), so an organization can't lose its last key by mistake. Throws `not_found`.
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
