/** The profile selector of requests, in which an empty id or name means "none" (POOL-PATCH-2). */
import type { Selector } from "../../../platform/kinds/selector.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";

/** `none` clears the profile; `invalid` is `{}` or both id and name. */
type ProfileChoice = { kind: "profile"; profile: Selector } | { kind: "none" } | { kind: "invalid" };

/** An empty string beside a value counts as not given: `{id: "", name: "work"}` names `work`. */
export const chooseProfile = ({ id, name }: Selector): ProfileChoice => {
  if (id && name) return { kind: "invalid" };
  if (id) return { kind: "profile", profile: { id } };
  if (name) return { kind: "profile", profile: { name } };
  return id === undefined && name === undefined ? { kind: "invalid" } : { kind: "none" };
};

/** The problems of the profile of a new pool or browser. */
export const profileProblems = (profile: Selector | undefined): SpecProblem[] =>
  profile && chooseProfile(profile).kind === "invalid"
    ? [problemAt(["profile"], "give exactly one of id and name")]
    : [];
