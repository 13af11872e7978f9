import { acceptedDraft, conditionsOf, type Draft, specProblemsText } from "../../../core/reconcile/conditions.ts";
import { bestFirst, type EligibleRules, isEligible } from "../rules/recommend.ts";
import { judged, successRate } from "../rules/site.ts";
import { siteProblems } from "../rules/site-problems.ts";
import type { SiteConfig } from "./site-config.ts";

type Refusal = { reason: string; message: string };

/** What is wrong with the object itself, or which older one has its target. */
const refusalOf = ({ metadata, spec }: SiteConfig, holder: SiteConfig): Refusal | undefined => {
  const message = specProblemsText(siteProblems(spec));
  if (message !== "") return { reason: "InvalidSpec", message };
  if (holder.metadata.uid === metadata.uid) return undefined;
  return {
    reason: "TargetTaken",
    message: `spec.target: the SiteConfig ${holder.metadata.name} has this scope and target`,
  };
};

const readyDraft = ({ spec }: SiteConfig, rules: EligibleRules): Draft => {
  const type = "Ready";
  const [best] = bestFirst(spec.configurations.map(({ evidence, ...recipe }) => ({ recipe, evidence })));
  if (!best) return { type, status: false, reason: "NoConfigurations", message: "spec.configurations is empty" };
  const { recipe, evidence } = best;
  const how = [
    recipe.browser.headless ? "headless" : "headful",
    ...(recipe.browser.stealth ? ["stealth"] : []),
    ...(recipe.browser.gpu ? ["gpu"] : []),
    recipe.proxy ? `through a proxy of the type ${recipe.proxy.type}` : "direct",
  ].join(", ");
  const counts = `${evidence.accessed} of ${judged(evidence)} judged trials reached the site`;
  if (isEligible(evidence, rules)) return { type, status: true, reason: "Recommended", message: `${how}: ${counts}` };
  const needed = `${rules.minTrials} judged trials and a success rate of ${rules.minRate}`;
  const rate = `a rate of ${Math.round(successRate(evidence) * 100) / 100}`;
  return {
    type,
    status: false,
    reason: "NotEnoughEvidence",
    message: `a recommendation needs ${needed}; of the best configuration (${how}) ${counts}, ${rate}`,
  };
};

/**
 * The status of a SiteConfig, pure. `holder`: the oldest one with its scope and target. Ready: whether this object
 * alone recommends.
 */
export const siteConfigStatus = (
  config: SiteConfig,
  { holder, rules, nowMs }: { holder: SiteConfig; rules: EligibleRules; nowMs: number },
): NonNullable<SiteConfig["status"]> => {
  const refusal = refusalOf(config, holder);
  return {
    observedGeneration: config.metadata.generation ?? 0,
    conditions: conditionsOf(config, [acceptedDraft(refusal), readyDraft(config, rules)], nowMs),
  };
};
