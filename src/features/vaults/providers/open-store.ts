/** A provider → its store, for one use. */
import type { Config } from "../../../core/config/config.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { openToken, type StoredProvider } from "./provider-secret.ts";
import { addressProblem } from "./rules/provider-place.ts";
import { openSecretStore } from "./secret-store.ts";
import { ProviderFailed, type Store } from "./store.ts";
import { openVaultStore } from "./vault-store.ts";

export type OpenStoreDeps = {
  kube: Kube;
  config: Pick<Config, "systemNamespace" | "credentialProviderAddresses">;
  secretsKeys: SecretsKeys;
};

/** Throws `ProviderFailed` when the provider is gone meanwhile, or its address is not among the allowed ones any more. */
export const openStore = async (provider: StoredProvider, deps: OpenStoreDeps): Promise<Store> => {
  const token = await openToken(provider.id, deps).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "internal_error")) throw error;
    throw new ProviderFailed("credential_provider_refused", "the stored token can't be decrypted; give it again");
  });
  if (!token) throw new ProviderFailed("external_credential_not_found", "the provider was deleted");
  if (provider.provider_type === "kubernetes") {
    const { namespace, label_selector: labelSelector } = provider;
    return openSecretStore({ token, namespace, labelSelector }, deps.kube);
  }
  const { address, namespace, mount, path_prefix: pathPrefix } = provider;
  const problem = addressProblem(address, deps.config.credentialProviderAddresses);
  if (problem !== undefined) throw new ProviderFailed("credential_provider_refused", `address: ${problem}`);
  return openVaultStore({ token, address, namespace, mount, pathPrefix });
};
