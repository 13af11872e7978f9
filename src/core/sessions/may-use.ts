/**
 * Who may use a session's browser: see its URLs, change it, follow its logs and telemetry, record it. The keys of one project share its sessions,
 * but for those with vaults: what is filled there can be read by whoever drives or watches the browser, so they need `vaults:fill`, as their
 * creation does. Ending a session shows nothing of it, and needs `browsers:use` alone.
 */

import { AppError } from "../../platform/base/errors.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import { type AnyLease, requestOf } from "../leases/records.ts";
import type { Project } from "../projects/projects.ts";
import { type FindSessionDeps, type FoundSession, findSession } from "./find-session.ts";

const hasVaults = (lease: Pick<AnyLease, "request">): boolean => {
  const { with_vaults = false, vaults = [] } = requestOf(lease);
  return with_vaults || vaults.length > 0;
};

/** AUTH-20. */
export const mayUse = (lease: Pick<AnyLease, "request">, { permissions }: Pick<Principal, "permissions">): boolean =>
  permissions.has("browsers:use") && (permissions.has("vaults:fill") || !hasVaults(lease));

export type UserOf = { project: Project; principal: Pick<Principal, "permissions">; includeEnded?: boolean };

export type FindUsableDeps = FindSessionDeps;

/** A session that this key may use. Throws as `findSession`, and `forbidden`. */
export const findUsable = async (
  idOrName: string,
  { project, principal, includeEnded = false }: UserOf,
  deps: FindUsableDeps,
): Promise<FoundSession> => {
  const found = await findSession(idOrName, { project, includeEnded }, deps);
  if (!mayUse(found.lease, principal))
    throw new AppError(
      "forbidden",
      `browser ${found.lease.session} has vaults, and this API key lacks the permission vaults:fill`,
    );
  return found;
};
