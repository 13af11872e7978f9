import type { Selector } from "../../resources/selector.ts";
import type { FurtherPermission } from "../route.ts";

/** Of requests that give browsers a profile: who drives such a browser has its logins. To clear a profile needs no more. */
export const profilePermission: FurtherPermission = {
  permission: "profiles:use",
  when: "the body names a `profile`",
  applies: ({ profile }: { profile?: Selector | null }) => Boolean(profile?.id || profile?.name),
};
