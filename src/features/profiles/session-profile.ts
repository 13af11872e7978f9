import type { AnyLease } from "../../core/leases/records.ts";
import { fetchNamedObject } from "../../core/objects/fetch-object.ts";
import type { Projects } from "../../core/projects/projects.ts";
import type { SessionProfile } from "../../core/sessions/session-answer.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { CachedProfiles } from "./cached-profiles.ts";
import { type Profile, profileKind } from "./profile.ts";
import { profileAnswer } from "./profiles.ts";

type Deps = { kube: Kube; profiles: CachedProfiles; projects: Pick<Projects, "find"> };
type Named = { id?: string | undefined; name?: string | undefined };

/**
 * This replica's copy may be a moment behind with a profile that was just made; that of an ended session may be gone.
 */
const findProfile = async (
  selector: Named,
  lease: AnyLease,
  projectId: string,
  deps: Deps,
): Promise<Profile | undefined> => {
  const namespace = deps.projects.find(projectId)?.namespace;
  if (namespace === undefined) return undefined;
  const known = deps.profiles.find(selector, namespace);
  if (known || lease.ended_at !== undefined) return known;
  const asked = { idOrName: selector.id ?? selector.name ?? "", project: { namespace }, what: "profile" };
  return fetchNamedObject(profileKind, asked, deps).catch(() => undefined);
};

/** Finds the profiles of sessions. */
export const createSessionProfile =
  (deps: Deps): SessionProfile =>
  async (lease, { changed, project }, config) => {
    const selector: Named | undefined = changed?.profile ?? config?.profile;
    const profile = selector && (await findProfile(selector, lease, project, deps));
    // A profile that was loaded into a running browser is never saved.
    const saves = changed?.profile === undefined && config?.saves_profile === true;
    return profile ? { profile: profileAnswer(profile), profile_save_changes: saves } : {};
  };
