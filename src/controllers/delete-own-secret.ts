import { secrets } from "../kube/resource-type.ts";
import type { VaultDeps } from "./vault-deps.ts";

/** Deletes the Secret that belongs to an object, by its name: the operator may delete Secrets and read none. */
export const deleteOwnSecret = async (
  namespace: string | undefined,
  name: string,
  { kube, lead }: VaultDeps,
): Promise<void> => {
  lead.check();
  await kube.delete(secrets, { name, ...(namespace && { namespace }) });
};
