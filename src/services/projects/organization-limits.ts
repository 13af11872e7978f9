import { invalidInput } from "../../errors.ts";
import type { Namespace } from "../../kube/objects.ts";
import { namespaces } from "../../kube/resource-type.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { readCap } from "./project-namespace.ts";

export type OrganizationLimits = {
  /** Limit for the browsers of all projects together, from the configuration. */
  maxConcurrentSessions: number;
  /** Cap of each project without its own cap; undefined: none. Never above the organization's limit. */
  defaultProjectMaxConcurrentSessions: number | undefined;
};

type Deps = Pick<ServiceDeps, "kube" | "config">;

/** The annotation of the system namespace that holds the default cap: one number needs no kind of its own. */
const annotation = "browserpool.dev/default-project-max-concurrent-sessions";

const limitsOf = (namespace: Namespace | undefined, maxConcurrentSessions: number): OrganizationLimits => {
  const cap = readCap(namespace?.metadata.annotations?.[annotation]);
  return {
    maxConcurrentSessions,
    defaultProjectMaxConcurrentSessions: cap && Math.min(cap, maxConcurrentSessions),
  };
};

/** Fetches the limits with one read. */
export const fetchOrganizationLimits = async ({ kube, config }: Deps): Promise<OrganizationLimits> =>
  limitsOf(await kube.get(namespaces, { name: config.systemNamespace }), config.limits.pooledSessions);

/** `defaultCap`: 0 and null remove the default, undefined keeps it. Throws `bad_request` above the organization's limit. */
export const updateOrganizationLimits = async (
  defaultCap: number | null | undefined,
  { kube, config }: Deps,
): Promise<OrganizationLimits> => {
  if (defaultCap === undefined) return fetchOrganizationLimits({ kube, config });
  const { pooledSessions } = config.limits;
  if (defaultCap !== null && defaultCap > pooledSessions)
    throw invalidInput([
      {
        path: "default_project_max_concurrent_sessions",
        message: `must not be above the organization's limit of ${pooledSessions}`,
      },
    ]);
  const annotations = { [annotation]: defaultCap ? String(defaultCap) : null };
  const written = await kube.patch(namespaces, { name: config.systemNamespace }, { metadata: { annotations } });
  return limitsOf(written, pooledSessions);
};
