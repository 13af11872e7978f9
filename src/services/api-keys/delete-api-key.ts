import { AppError } from "../../errors.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { apiKeyAnnotations } from "./api-key-secret.ts";
import { changeApiKey } from "./change-api-key.ts";

/**
 * Ends a key for good: its hash goes, its record stays. `deletedBy`: id of the key that asks; one can't delete itself,
 * so that the organization is never left without a key by a slip (`conflict`). Throws `not_found`.
 */
export const deleteApiKey = async (
  id: string,
  deletedBy: string,
  deps: Pick<ServiceDeps, "kube" | "config" | "apiKeys">,
): Promise<void> => {
  if (id === deletedBy) throw new AppError("conflict", "an API key can't delete itself; use another one");
  await changeApiKey(id, deps, () => ({
    metadata: { annotations: { [apiKeyAnnotations.deletedAt]: new Date().toISOString() } },
    data: { sha256: null },
  }));
};
