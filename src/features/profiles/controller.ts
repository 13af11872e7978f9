import { holderOf, type ObjectController } from "../../core/reconcile/object-controller.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import { emptyProfileStatus, isSeen, type Profile, profileKind } from "./profile.ts";
import { deleteContents, moveFormer, sweepVersions } from "./profile-versions.ts";
import { listArchives, statusOfArchives } from "./saved-archives.ts";
import { profileStatus } from "./status.ts";

/**
 * The profile with what the store has of it, when this is the first round that it has: an object that comes from a
 * backup has no status. Throws `unavailable`.
 */
const withFound = async (profile: Profile, { blobs }: { blobs: BlobStore }): Promise<Profile> => {
  if (isSeen(profile) || (profile.status?.version ?? 0) > 0) return profile;
  const found = statusOfArchives(await listArchives(profile, blobs));
  return found ? { ...profile, status: { ...emptyProfileStatus, ...profile.status, ...found } } : profile;
};

/**
 * Keeps the status of profiles. While the store of blobs is away, contents that nobody needs stay, and a deleted
 * profile does: the round fails and comes back.
 */
export const profileController: ObjectController<Profile, { blobs: BlobStore }> = {
  name: "profiles",
  kind: profileKind,
  reads: [profileKind],
  finalizer: blobsFinalizer,
  async release(profile, deps) {
    await deleteContents(profile, deps);
    return undefined;
  },
  async statusOf(profile, deps) {
    const holder = holderOf(profile, { kind: profileKind, claimOf: claimedName }, deps);
    return profileStatus(await withFound(profile, deps), { holder, nowMs: deps.now() });
  },
  async after(profile, deps) {
    await moveFormer(profile, deps);
    await sweepVersions(profile, deps);
  },
};
