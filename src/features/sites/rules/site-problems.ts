/** The rules of a site that neither its schema nor CEL can express; for SiteConfigs and lines of an import alike. */

import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { proxyProblems } from "../../proxies/rules/proxy-problems.ts";
import type { Recipe, SiteScope } from "../site-recipe.ts";
import { valuesOf } from "./recommend.ts";
import { recipeKey } from "./site.ts";
import { targetOfSite } from "./target.ts";

/** Why a target is not what lookups ask for in this scope; undefined when it is. */
const targetProblem = (scope: SiteScope, target: string): string | undefined => {
  const place = targetOfSite({ scope, target });
  if (typeof place === "string") return place;
  const wanted = valuesOf(place)[scope];
  return wanted === target ? undefined : `a lookup asks for ${wanted} here, so write that`;
};

/** What a SiteConfig and a line of an import have in common. */
type NamedSite = { scope: SiteScope; target: string; configurations: readonly Recipe[] };

/** All problems of a site that fits its schema; empty when there are none. */
export const siteProblems = ({ scope, target, configurations }: NamedSite): SpecProblem[] => {
  const wrongTarget = targetProblem(scope, target);
  const keys = configurations.map(recipeKey);
  return [
    ...(wrongTarget === undefined ? [] : [problemAt(["target"], wrongTarget)]),
    ...configurations.flatMap(({ proxy }, index) =>
      proxyProblems({ ...proxy, type: proxy?.type ?? "isp" }).map(({ path, message }) =>
        problemAt(["configurations", index, "proxy", ...path], message),
      ),
    ),
    ...keys.flatMap((key, index) =>
      keys.indexOf(key) < index
        ? [problemAt(["configurations", index], `is the same as configurations[${keys.indexOf(key)}]`)]
        : [],
    ),
  ];
};
