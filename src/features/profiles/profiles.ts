import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { browserPoolKind } from "../../core/model/pools/browser-pool.ts";
import type { ProfileAnswer } from "../../core/model/sessions/session-wire.ts";
import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import { newId } from "../../core/objects/new-id.ts";
import { requireUnused } from "../../core/objects/references.ts";
import { withFreeName } from "../../core/objects/with-free-name.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import { createdAt, updatedAt, updatedAtAnnotation, wireId, wireName } from "../../platform/kinds/identity.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { type CreateProfile, type Profile, profileKind, type UpdateProfile } from "./profile.ts";

/** Fetches the profiles of a project, oldest first. */
const fetchProfiles = (project: Pick<Project, "namespace">, deps: { kube: Kube }): Promise<Profile[]> =>
  fetchObjects(profileKind, project, deps);

/** Fetches a profile by id, else by name. Throws `not_found`. */
export const fetchProfile = (idOrName: string, project: Project, deps: { kube: Kube }): Promise<Profile> =>
  fetchNamedObject(profileKind, { idOrName, project, what: "profile" }, deps);

/** The later of the change of the name and the save of the contents. Both are RFC 3339 in UTC. */
const changedAt = (profile: Profile): string => {
  const times = [updatedAt(profile), profile.status?.savedTime ?? ""];
  return times.sort((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0)).at(-1) ?? createdAt(profile);
};

/** A profile as HTTP answers show it. */
export const profileAnswer = (profile: Profile): ProfileAnswer => ({
  id: wireId(profile),
  name: wireName(profile) ?? null,
  created_at: createdAt(profile),
  updated_at: changedAt(profile),
  ...(profile.status?.lastUsedTime && { last_used_at: profile.status.lastUsedTime }),
});

/** Creates a profile without contents; a browser fills it. Throws `name_taken`. */
export const createProfile = async (
  { name }: CreateProfile,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<ProfileAnswer> => {
  const metadata = { name: newId(), namespace: project.namespace, finalizers: [blobsFinalizer] };
  const create = async (): Promise<ProfileAnswer> =>
    profileAnswer(await deps.kube.create(profileKind, { metadata, spec: name === undefined ? {} : { name } }));
  return name === undefined ? create() : withFreeName(profileKind, { name, what: "profile", project }, deps, create);
};

/** `name`: exact. `query`: part of the name or the id, in any case. */
type ProfileQuery = { name?: string | undefined; query?: string | undefined };

/** The profiles that match the query, oldest first. */
export const listProfiles = async (
  { name, query = "" }: ProfileQuery,
  project: Project,
  deps: { kube: Kube },
): Promise<Profile[]> =>
  (await fetchProfiles(project, deps)).filter((profile) => {
    const own = wireName(profile) ?? "";
    if (name !== undefined && name !== own) return false;
    return `${own}\n${profile.metadata.name}`.toLowerCase().includes(query.toLowerCase());
  });

type UpdateDeps = { kube: Kube; locks: Locks };

/**
 * Throws `conflict` when a pool refers to the profile by its name: with another one, the pool's browsers would start
 * without it.
 */
const requireUnnamed = async (name: string, project: Project, deps: UpdateDeps): Promise<void> => {
  const pools = await fetchObjects(browserPoolKind, project, deps);
  const pool = pools.find(({ spec }) => spec.profile?.name === name);
  if (!pool) return;
  const poolName = wireName(pool) ?? pool.metadata.name;
  throw new AppError(
    "conflict",
    `name: the browser pool ${poolName} refers to the profile by its name ${name}; give the pool the profile's id first`,
  );
};

const rename = async ({ metadata }: Profile, name: string, { kube }: UpdateDeps): Promise<Profile> => {
  const annotations = { [updatedAtAnnotation]: new Date().toISOString() };
  try {
    return await kube.patch(profileKind, metadata, { metadata: { annotations }, spec: { name } });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", "the profile was deleted meanwhile");
    throw error;
  }
};

/** Renames a profile. Throws `not_found`, `name_taken`, and `conflict` while a pool refers to it by its name. */
export const updateProfile = async (
  { idOrName, request: { name } }: { idOrName: string; request: UpdateProfile },
  project: Project,
  deps: UpdateDeps,
): Promise<ProfileAnswer> => {
  const profile = await fetchProfile(idOrName, project, deps);
  const before = wireName(profile);
  if (name === before) return profileAnswer(profile);
  if (before !== undefined) await requireUnnamed(before, project, deps);
  const ownId = profile.metadata.name;
  const wanted = { name, what: "profile", project, ownId };
  return profileAnswer(await withFreeName(profileKind, wanted, deps, () => rename(profile, name, deps)));
};

/**
 * Deletes a profile; the operator deletes its contents and then removes its finalizer. Throws `not_found`, and
 * `conflict` while a pool or a browser uses it.
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
