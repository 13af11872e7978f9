import type { Selector } from "../../platform/kinds/selector.ts";
import type { FurtherPermission } from "../http/route.ts";

type Choice = Partial<Selector> & { save_changes?: boolean };

const isNamed = ({ profile }: { profile?: Choice | null }): boolean => Boolean(profile?.id || profile?.name);

/**
 * Of requests that give browsers a profile: who drives such a browser has its logins. To clear a profile needs no more.
 */
export const profilePermission: FurtherPermission = {
  permission: "profiles:use",
  when: "the body names a `profile`",
  applies: isNamed,
};

/** Of requests that have a browser write to a profile: later browsers have the logins that its holder leaves there. */
export const saveProfilePermission: FurtherPermission = {
  permission: "profiles:write",
  when: "its `profile` has `save_changes`",
  applies: (body: { profile?: Choice | null }) => isNamed(body) && body.profile?.save_changes === true,
};
