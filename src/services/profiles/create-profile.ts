import { blobsFinalizer } from "../../resources/finalizers.ts";
import { profileKind } from "../../resources/profile.ts";
import type { CreateProfile, ProfileRecord } from "../../resources/profile-wire.ts";
import { newId } from "../objects/new-id.ts";
import { withFreeName } from "../objects/with-free-name.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { profileAnswer } from "./profile-answer.ts";

/** Creates a profile without contents; a browser fills it. Throws `name_taken`. */
export const createProfile = async (
  { name }: CreateProfile,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "locks">,
): Promise<ProfileRecord> => {
  const metadata = { name: newId(), namespace: project.namespace, finalizers: [blobsFinalizer] };
  const create = async (): Promise<ProfileRecord> =>
    profileAnswer(await deps.kube.create(profileKind, { metadata, spec: name === undefined ? {} : { name } }));
  return name === undefined ? create() : withFreeName(profileKind, { name, what: "profile", project }, deps, create);
};
