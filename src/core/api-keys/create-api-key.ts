import { AppError, invalidInput } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { secrets } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { onlyNamed, type Permission, permissionsOf } from "../model/permission.ts";
import { newId } from "../objects/new-id.ts";
import type { Projects } from "../projects/projects.ts";
import {
  apiKeySecret,
  apiKeySecretName,
  grantedTo,
  isUsable,
  maskApiKey,
  newApiKey,
  readApiKey,
  type StoredApiKey,
} from "./api-key-secret.ts";
import type { ApiKeys } from "./api-keys.ts";

/**
 * The permissions that the key `by` may pass on: its own, asked of the API server. This replica's copy may not show yet
 * that the key has lost some, and what it passed on would last. A key with all of the organization's level also passes on
 * what keys have only by name: nobody could be given it otherwise. Throws `unauthorized` for a key that was deleted or
 * has expired.
 */
export const fetchGrantable = async (
  by: string,
  { kube, config }: { config: Config; kube: Kube },
): Promise<ReadonlySet<Permission>> => {
  const secret = await kube.get(secrets, { name: apiKeySecretName(by), namespace: config.systemNamespace });
  const record = secret && readApiKey(secret);
  if (!record || !isUsable(record, Date.now()))
    throw new AppError("unauthorized", "this API key is not known, or it has expired");
  const hasAll = record.projectId === undefined && record.permissions === undefined;
  return new Set([...grantedTo(record), ...(hasAll ? onlyNamed : [])]);
};

/** Throws `forbidden`, which names the permissions that are wanted beyond those that can be passed on. */
export const requireGrantable = (wanted: Iterable<Permission>, grantable: ReadonlySet<Permission>): void => {
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

type NewApiKey = {
  name: string;
  /** Undefined: a key of the organization. */
  projectId: string | undefined;
  /** Undefined: it never expires. A part of a day counts. */
  daysToExpire: number | undefined;
  /** Undefined: all of the key's level. */
  permissions?: readonly Permission[] | undefined;
  /** Id of the creating key, which must have all that the new key gets. */
  createdBy: string;
};

export type CreatedApiKey = { record: StoredApiKey /** The only time that the key itself is seen. */; key: string };

/** Lifetimes of keys are given in days. */
export const msPerDay = 24 * 60 * 60 * 1000;

/**
 * Makes a key. Throws `project_not_found` unless the project is active, `forbidden` for more than the creating key has,
 * and `bad_request` for permissions that a key of a project can't have.
 */
export const createApiKey = async (
  { name, projectId, daysToExpire, permissions, createdBy }: NewApiKey,
  { kube, config, apiKeys, projects }: { apiKeys: ApiKeys; config: Config; kube: Kube; projects: Projects },
): Promise<CreatedApiKey> => {
  if (projectId !== undefined && activeProjectId(projectId, projects) === undefined)
    throw new AppError("project_not_found", `no active project ${projectId}`);
  refuseForeignLevel(projectId, permissions);
  requireGrantable(
    permissionsOf({ projectId, listed: permissions }),
    await fetchGrantable(createdBy, { kube, config }),
  );
  const key = newApiKey();
  const nowMs = Date.now();
  const record: StoredApiKey = {
    id: newId(),
    name,
    maskedKey: maskApiKey(key),
    projectId,
    createdAt: new Date(nowMs).toISOString(),
    createdBy,
    expiresAt: daysToExpire === undefined ? undefined : new Date(nowMs + daysToExpire * msPerDay).toISOString(),
    deletedAt: undefined,
    lifetimeDays: daysToExpire,
    permissions,
  };
  apiKeys.put(await kube.create(secrets, apiKeySecret(record, key, config.systemNamespace)));
  return { record, key };
};

/** Accepts an id only, not a name: a key belongs to one id for good, and another project may have the name later. */
const activeProjectId = (id: string, projects: Projects): string | undefined => {
  const project = projects.find(id);
  return project?.id === id && project.status === "active" ? id : undefined;
};
