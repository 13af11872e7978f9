import { isDeepStrictEqual } from "node:util";
import type { Selector } from "../../../platform/kinds/selector.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { chooseProfile } from "../../model/settings/pool-profile.ts";
import { resolveReferences } from "../../model/settings/references.ts";
import { fetchReferenced } from "../../objects/references.ts";
import type { Project } from "../../projects/projects.ts";

/** Whether a request names the profile that the pool has already, by its id or by its name. */
export const namesSameProfile = async (
  { before, asked }: { before: Selector | undefined; asked: Selector | undefined },
  project: Project,
  deps: { kube: Kube },
): Promise<boolean> => {
  const choice = asked && chooseProfile(asked);
  if (choice?.kind !== "profile" || !before) return false;
  if (isDeepStrictEqual(choice.profile, before)) return true;
  const selectors = [before, choice.profile];
  const references = selectors.map((selector) => ({ kind: "Profile" as const, path: ["profile"], selector }));
  const objects = await fetchReferenced(references, project, deps);
  const [old, wanted] = selectors.map((profile) => resolveReferences({ profile }, objects).profileId);
  return old !== undefined && old === wanted;
};
