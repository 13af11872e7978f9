import { invalidInput } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { namespaces } from "../../platform/kube/resource-type.ts";
import type { Config, Limits } from "../config/config.ts";
import { boundedCap, defaultCapAnnotation, readCap } from "../model/sessions/session-room.ts";

export type OrganizationLimits = {
  /** Limit for the browsers of all projects together, pooled and on demand, from the configuration. */
  maxConcurrentSessions: number;
  /** Cap of each project without its own cap; undefined: none. Never above the organization's limit. */
  defaultProjectMaxConcurrentSessions: number | undefined;
};

/** How many objects all projects have together. */
export type OrganizationUse = { authConnections: number; vaults: number };

/** Least time between two checks of a login, s: a limit of the service that the organization's limits tell. */
export const minHealthCheckSeconds = 300;

type Deps = { config: Config; kube: Kube };

const limitsOf = (
  namespace: Namespace | undefined,
  { pooledSessions, onDemandSessions }: Limits,
): OrganizationLimits => {
  const maxConcurrentSessions = pooledSessions + onDemandSessions;
  const cap = readCap(namespace?.metadata.annotations?.[defaultCapAnnotation]);
  return {
    maxConcurrentSessions,
    defaultProjectMaxConcurrentSessions: boundedCap(cap, maxConcurrentSessions),
  };
};

/** Fetches the limits with one read. */
export const fetchOrganizationLimits = async ({ kube, config }: Deps): Promise<OrganizationLimits> =>
  limitsOf(await kube.get(namespaces, { name: config.systemNamespace }), config.limits);

/** The id of the organization: the uid of the system namespace. */
export const fetchOrganizationId = async ({ kube, config }: Deps): Promise<string> =>
  (await kube.get(namespaces, { name: config.systemNamespace }))?.metadata.uid ?? "";

/**
 * `defaultCap`: 0 and null remove the default, undefined keeps it. Throws `bad_request` above the organization's limit.
 */
export const updateOrganizationLimits = async (
  defaultCap: number | null | undefined,
  { kube, config }: Deps,
): Promise<OrganizationLimits> => {
  if (defaultCap === undefined) return fetchOrganizationLimits({ kube, config });
  const total = config.limits.pooledSessions + config.limits.onDemandSessions;
  if (defaultCap !== null && defaultCap > total)
    throw invalidInput([
      {
        path: "default_project_max_concurrent_sessions",
        message: `must not be above the organization's limit of ${total}`,
      },
    ]);
  const annotations = { [defaultCapAnnotation]: defaultCap ? String(defaultCap) : null };
  const written = await kube.patch(namespaces, { name: config.systemNamespace }, { metadata: { annotations } });
  return limitsOf(written, config.limits);
};
