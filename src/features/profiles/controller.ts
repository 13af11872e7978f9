import { holderOf, type ObjectController } from "../../core/reconcile/object-controller.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import { type Profile, profileKind } from "./profile.ts";
import { deleteContents, sweepVersions } from "./profile-versions.ts";
import { profileStatus } from "./status.ts";

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
  statusOf(profile, deps) {
    const holder = holderOf(profile, { kind: profileKind, claimOf: claimedName }, deps);
    return profileStatus(profile, { holder, nowMs: deps.now() });
  },
  after: sweepVersions,
};
