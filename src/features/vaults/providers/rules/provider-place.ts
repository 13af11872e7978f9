/** Which fields say where a store is, by its type (PROVIDER-3, PROVIDER-15); pure. */
import type { ErrorDetail } from "../../../../platform/base/errors.ts";
import { clusterNamespace, type ProviderPlace } from "../provider.ts";

const addressesSetting = "BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES";

const fieldsOf = {
  kubernetes: ["namespace", "label_selector"],
  vault: ["address", "mount", "path_prefix", "namespace"],
} as const;

const placeFields = [...new Set(Object.values(fieldsOf).flat())];

/** What a request gives of them. */
type GivenPlace = { [field in (typeof placeFields)[number]]?: string | undefined };

/** Why a Vault is not asked at this address; undefined when it is. */
export const addressProblem = (address: string, allowed: readonly string[]): string | undefined => {
  if (allowed.includes(address)) return undefined;
  const list = `${addressesSetting} (the chart's credentialProviders.addresses)`;
  return allowed.length === 0
    ? `no address is allowed; name it in ${list}, or have External Secrets copy the items and give kubernetes`
    : `must be one of ${list}, exactly as it is there`;
};

/** Fields that a store of this type does not have. */
export const foreignFields = (type: ProviderPlace["provider_type"], given: GivenPlace): ErrorDetail[] =>
  placeFields
    .filter((field) => given[field] !== undefined && !fieldsOf[type].some((own) => own === field))
    .map((path) => ({ path, message: `is no field of the type ${type}` }));

/** The place of a new store, or why there is none. */
export const placeOf = (
  type: ProviderPlace["provider_type"],
  { namespace, label_selector = "", address, mount = "secret", path_prefix = "" }: GivenPlace,
): ProviderPlace | ErrorDetail => {
  if (type === "vault") {
    if (address === undefined) return { path: "address", message: "give that of the server" };
    return { provider_type: type, address, namespace: namespace ?? "", mount, path_prefix };
  }
  if (namespace === undefined) return { path: "namespace", message: "give that of the Secrets" };
  if (!clusterNamespace.test(namespace)) return { path: "namespace", message: "must be the name of a namespace" };
  return { provider_type: type, namespace, label_selector };
};
