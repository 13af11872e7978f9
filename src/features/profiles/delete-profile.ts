import { requireUnused } from "../../core/objects/references.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { ServiceDeps } from "../../core/service-deps.ts";
import { fetchProfile } from "./fetch-profile.ts";
import { profileKind } from "./profile.ts";

/**
 * Deletes a profile; the operator deletes its contents and then removes its finalizer. Throws `not_found`, and `conflict` while a
 * pool or a browser uses it.
 */
export const deleteProfile = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "store">,
): Promise<void> => {
  const profile = await fetchProfile(idOrName, project, deps);
  await requireUnused({ kind: "Profile", object: profile, what: "profile" }, project, deps);
  await deps.kube.delete(profileKind, profile.metadata, { uid: profile.metadata.uid });
};
