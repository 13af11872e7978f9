/**
 * What sessions may do to knowledge. The holder of a session can make its page show anything, so sessions confirm or
 * contradict what others have made known, and decide nothing alone.
 */
import type { SiteLine } from "../site-evidence.ts";
import type { Evidence, Recipe } from "../site-recipe.ts";
import { recipeKey, type SourcedEvidence, totalOf } from "./site.ts";

const isOfOthers = ({ source }: Pick<SourcedEvidence, "source">): boolean => source !== "session";

/**
 * The counts by which a configuration is eligible or not (LOOKUP-86): those of trials, imports and people. `total`: of
 * all its evidence.
 */
export const decisive = (
  evidence: readonly SourcedEvidence[],
  total: Evidence,
): Pick<Evidence, "accessed" | "blocked"> =>
  evidence.every(isOfOthers) ? total : (totalOf(evidence.filter(isOfOthers)) ?? { accessed: 0, blocked: 0 });

/**
 * Whether others than sessions have made this configuration of the site known, so that sessions add to it (LOOKUP-85).
 */
export const isMadeKnown = (site: SiteLine | undefined, recipe: Recipe): boolean =>
  site?.configurations.some((known) => known.evidence.some(isOfOthers) && recipeKey(known) === recipeKey(recipe)) ===
  true;
