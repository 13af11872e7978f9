import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { requireUnused } from "../../core/objects/references.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { fetchProfile } from "./fetch-profile.ts";
import { profileKind } from "./profile.ts";

/**
 * Deletes a profile; the operator deletes its contents and then removes its finalizer. Throws `not_found`, and `conflict` while a
 * pool or a browser uses it.
 */
export const deleteProfile = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const profile = await fetchProfile(idOrName, project, deps);
  await requireUnused({ kind: "Profile", object: profile, what: "profile" }, project, deps);
  await deps.kube.delete(profileKind, profile.metadata, { uid: profile.metadata.uid });
};
