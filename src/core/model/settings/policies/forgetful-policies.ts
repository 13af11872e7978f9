/** Policies by which Chromium deletes what a profile is saved for, at its end or meanwhile (PROFILE-26). */
import { problemAt, type SpecProblem } from "../../../../platform/rules/problem.ts";

/** `forgets`: whether this value of the policy deletes something; left out, every value but an empty list does. */
const forgetful: Record<string, { deletes: string; forgets?: (value: unknown) => boolean }> = {
  ClearBrowsingDataOnExitList: { deletes: "browsing data when the browser ends" },
  BrowsingDataLifetime: { deletes: "browsing data after a time" },
  CookiesSessionOnlyForUrls: { deletes: "cookies when the browser ends" },
  DefaultCookiesSetting: { deletes: "cookies when the browser ends", forgets: (value) => value === 4 },
};

const holdsSomething = (value: unknown): boolean => !Array.isArray(value) || value.length > 0;

type Settings = {
  chromePolicy?: Record<string, unknown> | undefined;
  /** Of an on-demand browser. */
  profile?: { saveChanges?: boolean | undefined } | undefined;
  /** Of an on-demand browser as a pool. */
  savesProfile?: boolean | undefined;
};

/** One problem for each policy that would empty the profile which the browser saves; none when it saves none. */
export const forgetfulPolicyProblems = ({ chromePolicy = {}, profile, savesProfile }: Settings): SpecProblem[] => {
  if (!profile?.saveChanges && !savesProfile) return [];
  return Object.entries(forgetful).flatMap(([name, { deletes, forgets = holdsSomething }]) =>
    Object.hasOwn(chromePolicy, name) && forgets(chromePolicy[name])
      ? [
          problemAt(
            ["chromePolicy", name],
            `deletes ${deletes}, and the profile would be saved without it: leave it or save_changes out`,
          ),
        ]
      : [],
  );
};
