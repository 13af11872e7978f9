import type { Profile } from "../../features/profiles/profile.ts";
import { profileKind } from "../../features/profiles/profile.ts";
import { profileAnswer } from "../../features/profiles/profile-answer.ts";
import type { AnyLease, SessionRequest } from "../leases/records.ts";
import type { Session } from "../model/sessions/session-wire.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";
import { fetchNamedObject } from "../objects/fetch-object.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube" | "profiles" | "projects">;
type Named = { id?: string | undefined; name?: string | undefined };

/** This replica's copy may be a moment behind with a profile that was just made; that of an ended session may be gone. */
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

/** The profile of a session as answers show it, and whether its browser saves to it; nothing without one, or when it is gone. */
export const sessionProfile = async (
  lease: AnyLease,
  { changed, project }: SessionRequest,
  config: SessionConfig | undefined,
  deps: Deps,
): Promise<Pick<Session, "profile" | "profile_save_changes">> => {
  const selector: Named | undefined = changed?.profile ?? config?.profile;
  const profile = selector && (await findProfile(selector, lease, project, deps));
  // A profile that was loaded into a running browser is never saved.
  const saves = changed?.profile === undefined && config?.saves_profile === true;
  return profile ? { profile: profileAnswer(profile), profile_save_changes: saves } : {};
};
