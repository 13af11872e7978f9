import { browserPoolKind } from "../../core/model/pools/browser-pool.ts";
import type { ProfileRecord } from "../../core/model/sessions/profile-record.ts";
import { fetchObjects } from "../../core/objects/fetch-object.ts";
import { withFreeName } from "../../core/objects/with-free-name.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import { updatedAtAnnotation, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { fetchProfile } from "./fetch-profile.ts";
import { type Profile, profileKind } from "./profile.ts";
import { profileAnswer } from "./profile-answer.ts";
import type { UpdateProfile } from "./profile-wire.ts";

type Deps = { kube: Kube; locks: Locks };

/** Throws `conflict` when a pool refers to the profile by its name: with another one, the pool's browsers would start without it. */
const requireUnnamed = async (name: string, project: Project, deps: Deps): Promise<void> => {
  const pools = await fetchObjects(browserPoolKind, project, deps);
  const pool = pools.find(({ spec }) => spec.profile?.name === name);
  if (!pool) return;
  const poolName = wireName(pool) ?? pool.metadata.name;
  throw new AppError(
    "conflict",
    `name: the browser pool ${poolName} refers to the profile by its name ${name}; give the pool the profile's id first`,
  );
};

const rename = async ({ metadata }: Profile, name: string, { kube }: Deps): Promise<Profile> => {
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
  deps: Deps,
): Promise<ProfileRecord> => {
  const profile = await fetchProfile(idOrName, project, deps);
  const before = wireName(profile);
  if (name === before) return profileAnswer(profile);
  if (before !== undefined) await requireUnnamed(before, project, deps);
  const ownId = profile.metadata.name;
  const wanted = { name, what: "profile", project, ownId };
  return profileAnswer(await withFreeName(profileKind, wanted, deps, () => rename(profile, name, deps)));
};
