/** The rules of a SiteConfig that neither its schema nor CEL can express. */
import type { SiteConfigSpec } from "../../resources/site-config.ts";
import type { SiteScope } from "../../resources/site-recipe.ts";
import { problemAt, type SpecProblem } from "../problem.ts";
import { proxyProblems } from "../proxy-problems.ts";
import { valuesOf } from "./recommend.ts";
import { recipeKey } from "./site.ts";
import { targetOf } from "./target.ts";

/** Why a target is not what lookups ask for in this scope; undefined when it is. */
export const scopedTargetProblem = (scope: SiteScope, target: string): string | undefined => {
  const place = targetOf(scope === "exact" ? target : `https://${target}/`);
  if (typeof place === "string") return place;
  const wanted = valuesOf(place)[scope];
  return wanted === target ? undefined : `a lookup asks for ${wanted} here, so write that`;
};

/** All problems of a spec that fits its schema; empty when there are none. */
export const siteConfigProblems = ({ scope, target, configurations }: SiteConfigSpec): SpecProblem[] => {
  const wrongTarget = scopedTargetProblem(scope, target);
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
