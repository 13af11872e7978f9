import type { ServiceDeps } from "../service-deps.ts";
import { type ApiKeyRecord, apiKeyAnnotations } from "./api-key-secret.ts";
import { changeApiKey } from "./change-api-key.ts";

/** Renames a key. Throws `not_found`, also for a deleted key. */
export const renameApiKey = (
  id: string,
  name: string,
  deps: Pick<ServiceDeps, "kube" | "config" | "apiKeys">,
): Promise<ApiKeyRecord> =>
  changeApiKey(id, deps, () => ({ metadata: { annotations: { [apiKeyAnnotations.name]: name } } }));
