/** What must be known before a running browser is changed: all checks, and what its agent needs. Nothing has changed yet. */

import { AppError } from "../../platform/base/errors.ts";
import type { Selector } from "../../platform/kinds/selector.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Config } from "../config/config.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { requestOf, type SessionRequest } from "../leases/records.ts";
import type { RunningChange } from "../model/browsers/browser-update.ts";
import { referencesOf, resolveReferences } from "../model/settings/references.ts";
import { fetchReferenced, requireReferences } from "../objects/references.ts";
import { requireFeatures } from "../objects/require-features.ts";
import type { Project } from "../projects/projects.ts";
import type { BrowserChange } from "../protocol/browser-change.ts";
import type { ParentProxy } from "../protocol/browser-setup.ts";
import type { Referents, StoredArchive } from "../setups/referents.ts";
import type { FoundSession } from "./find-session.ts";
import { configOf } from "./session-config.ts";

export type PlannedChange = {
  wanted: Pick<BrowserChange, "viewport" | "proxy" | "profile">;
  /** The archive of the profile, if anything is saved in it. */
  archive: StoredArchive | undefined;
  /** For the session's record. */
  changed: NonNullable<SessionRequest["changed"]>;
};

const nameOf = ({ id, name }: Partial<Selector>): string => name ?? id ?? "";

/** Throws `conflict` for a session that has a profile already. */
export const refuseSecondProfile = async (
  { lease, poolUid }: FoundSession,
  { profile }: Pick<RunningChange, "profile">,
  deps: { store: LeaseStore },
): Promise<void> => {
  if (!profile) return;
  const { changed } = requestOf(lease);
  const present = changed?.profile ?? (await configOf(lease, poolUid, deps))?.profile;
  if (present)
    throw new AppError(
      "conflict",
      `profile: the session has the profile ${nameOf(present)} already; start another browser with ${nameOf(profile)}`,
    );
};

/** Throws `conflict`, `not_found` for what is named and not there, and `not_supported_here`. */
export const planChange = async (
  change: RunningChange,
  found: FoundSession,
  project: Project,
  deps: { config: Config; kube: Kube; referents: Referents; store: LeaseStore },
): Promise<PlannedChange> => {
  const { viewport, profile, proxyId } = change;
  requireFeatures({ ...(proxyId && { proxyId }) }, deps);
  const references = referencesOf({ ...(profile && { profile }), ...(proxyId && { proxyId }) });
  await requireReferences(references, project, deps);
  await refuseSecondProfile(found, change, deps);
  const objects = await fetchReferenced(references, project, deps);
  const ids = resolveReferences({ ...(profile && { profile }), ...(proxyId && { proxyId }) }, objects);
  const open = async (): Promise<ParentProxy | null> => {
    const proxy = objects.Proxy?.find(({ metadata }) => metadata.name === ids.proxyId);
    if (!proxy) throw new AppError("not_found", `proxy_id: no proxy with id ${proxyId} in this project`);
    return deps.referents.openProxy(proxy, found.lease.browser);
  };
  const named = objects.Profile?.find(({ metadata }) => metadata.name === ids.profileId);
  const archive = profile && named && deps.referents.profile(named);
  return {
    archive,
    wanted: {
      ...(viewport && { viewport }),
      ...(proxyId !== undefined && { proxy: proxyId === "" ? null : await open() }),
      ...(profile && { profile: archive ? { archive: { sha256: archive.sha256, bytes: archive.bytes } } : {} }),
    },
    changed: {
      ...(viewport && { viewport }),
      // By its id: its name may change.
      ...(profile && ids.profileId && { profile: { id: ids.profileId } }),
      ...(proxyId !== undefined && { proxy_id: proxyId }),
    },
  };
};
