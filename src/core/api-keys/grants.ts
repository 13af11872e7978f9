import { AppError, invalidInput } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import type { Permission } from "../model/permission.ts";
import { apiKeySecretName, grantedTo, isUsable, readApiKey } from "./api-key-secret.ts";

/**
 * The permissions that the key `by` may pass on: its own, asked of the API server. This replica's copy may not show yet that the
 * key has lost some, and what it passed on would last. Throws `unauthorized` for a key that was deleted or has expired.
 */
export const fetchGrantable = async (
  by: string,
  { kube, config }: { config: Config; kube: Kube },
): Promise<ReadonlySet<Permission>> => {
  const secret = await kube.get(secrets, { name: apiKeySecretName(by), namespace: config.systemNamespace });
  const record = secret && readApiKey(secret);
  if (!record || !isUsable(record, Date.now()))
    throw new AppError("unauthorized", "this API key is not known, or it has expired");
  return grantedTo(record);
};

/** Throws `forbidden`, which names the permissions that are wanted beyond those that can be passed on. */
export const requireGrant = (wanted: Iterable<Permission>, grantable: ReadonlySet<Permission>): void => {
  const missing = [...wanted].filter((each) => !grantable.has(each));
  if (missing.length > 0)
    throw new AppError(
      "forbidden",
      `an API key can't give another one more than it has itself; this one lacks ${missing.join(", ")}`,
    );
};

/** Throws `bad_request` for a list with `organization` for a key of a project. */
export const refuseForeignLevel = (projectId: string | undefined, listed: readonly Permission[] | undefined): void => {
  if (projectId !== undefined && listed?.includes("organization"))
    throw invalidInput([{ path: "permissions", message: "a key of one project can't have `organization`" }]);
};
