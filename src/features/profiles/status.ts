import { acceptedDraft, conditionsOf } from "../../core/reconcile/conditions.ts";
import { emptyProfileStatus, type Profile, type ProfileStatus } from "./profile.ts";

/** The status of a profile, pure; what saves have written stays. `holder`: the oldest profile with this name. */
export const profileStatus = (
  profile: Profile,
  { holder, nowMs }: { holder: Profile; nowMs: number },
): ProfileStatus => {
  const before = profile.status ?? emptyProfileStatus;
  const { version } = before;
  const taken =
    holder.metadata.uid === profile.metadata.uid
      ? undefined
      : { reason: "NameTaken", message: `spec.name: the profile ${holder.metadata.name} has this name` };
  const usable =
    version > 0
      ? { status: true, reason: "Saved", message: `version ${version} is saved` }
      : { status: true, reason: "Empty", message: "nothing is saved yet: browsers start with an empty profile" };
  return {
    ...before,
    observedGeneration: profile.metadata.generation ?? 0,
    conditions: conditionsOf(profile, [acceptedDraft(taken), { type: "Ready", ...usable }], nowMs),
  };
};
