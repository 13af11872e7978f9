import type { ProfileRecord } from "../../core/model/sessions/profile-record.ts";
import { newId } from "../../core/objects/new-id.ts";
import { withFreeName } from "../../core/objects/with-free-name.ts";
import type { Project } from "../../core/projects/projects.ts";
import { blobsFinalizer } from "../../platform/kinds/finalizers.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { profileKind } from "./profile.ts";
import { profileAnswer } from "./profile-answer.ts";
import type { CreateProfile } from "./profile-wire.ts";

/** Creates a profile without contents; a browser fills it. Throws `name_taken`. */
export const createProfile = async (
  { name }: CreateProfile,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<ProfileRecord> => {
  const metadata = { name: newId(), namespace: project.namespace, finalizers: [blobsFinalizer] };
  const create = async (): Promise<ProfileRecord> =>
    profileAnswer(await deps.kube.create(profileKind, { metadata, spec: name === undefined ? {} : { name } }));
  return name === undefined ? create() : withFreeName(profileKind, { name, what: "profile", project }, deps, create);
};
