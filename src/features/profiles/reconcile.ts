import { dropFinalizer, withFinalizer } from "../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../core/reconcile/object-deps.ts";
import { blobsFinalizer } from "../../platform/kinds/finalizers.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { refOf } from "../../platform/kube/objects.ts";
import { profileKind } from "./profile.ts";
import { deleteContents, sweepVersions } from "./profile-versions.ts";
import { profileStatus } from "./status.ts";

/**
 * One round for one profile; `key` is `namespace/name`. Safe to repeat at any point. While the store of blobs is away, contents that
 * nobody needs stay, and a deleted profile does: the round fails and comes back.
 */
export const reconcileProfile = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { profiles } = deps.caches;
  const known = profiles.get(refOf(key));
  if (!known) return;
  if (known.metadata.deletionTimestamp) {
    if (!known.metadata.finalizers?.includes(blobsFinalizer)) return;
    deps.lead.check();
    await deleteContents(known, deps);
    await dropFinalizer(profileKind, { object: known, finalizer: blobsFinalizer }, deps.kube);
    return;
  }
  deps.lead.check();
  const profile = await withFinalizer(profileKind, { object: known, finalizer: blobsFinalizer }, deps.kube);
  profiles.put(profile);
  const rivals = liveIn(profile.metadata.namespace, profiles);
  const holder = holderOf(profile, rivals, claimedName) ?? profile;
  const status = profileStatus(profile, { holder, nowMs: deps.now() });
  await writeStatus(profileKind, { object: profile, status, cache: profiles }, deps);
  await sweepVersions(profile, deps);
};
