import type { Config } from "../../core/config/config.ts";
import { invalidInput } from "../../platform/base/errors.ts";
import { isCountry } from "../../platform/rules/countries.ts";
import type { ProxyProvider } from "../proxies/rules/proxy-provider.ts";
import { isPossibleHere } from "./rules/possible-here.ts";
import { recommend } from "./rules/recommend.ts";
import { lookupAnswer } from "./rules/recommendation-answer.ts";
import { type Target, targetOf } from "./rules/target.ts";
import type { SiteIndex } from "./site-index.ts";
import type { Recipe } from "./site-recipe.ts";
import type { LookupAnswer, LookupRequest } from "./site-wire.ts";

type Deps = { config: Config; proxyProvider: ProxyProvider; sites: SiteIndex };

/** The target of a request's `url`. Throws `bad_request` for a URL that is not public. */
export const requireTarget = (url: string): Target => {
  const target = targetOf(url);
  if (typeof target === "string") throw invalidInput([{ path: "url", message: target }]);
  return target;
};

/**
 * The countries of a request, in capitals; those of the installation without any. Throws `bad_request` for what is
 * none.
 */
export const requireCountries = (
  given: readonly string[] | undefined,
  { config }: Pick<Deps, "config">,
): readonly string[] | undefined => {
  if (given === undefined) return config.sites.proxyCountries;
  const codes = given.map((code) => code.toUpperCase());
  const unknown = codes.flatMap((code, index) =>
    isCountry(code)
      ? []
      : [{ path: `allowed_proxy_countries[${index}]`, message: `${code} is no country code of ISO 3166` }],
  );
  if (unknown.length > 0) throw invalidInput(unknown);
  return codes;
};

/**
 * What is recommended for a target, from memory alone. `countries`: those whose proxies may be recommended; undefined:
 * any.
 */
export const lookupTarget = (
  { target, countries }: { target: Target; countries: readonly string[] | undefined },
  deps: Deps,
): LookupAnswer => {
  const { proxyProvider, config } = deps;
  const { minTrials, minRate } = config.sites;
  const { find } = deps.sites.of(target.domain);
  const here = { browserFeatures: config.browserFeatures, proxyProvider };
  const rules = { minTrials, minRate, countries, isPossible: (recipe: Recipe) => isPossibleHere(recipe, here) };
  return lookupAnswer(
    target,
    recommend(target, (scope, value) => find({ scope, target: value }), rules),
  );
};

/**
 * What is recommended for reaching a public URL, from memory alone: it asks no DNS, writes nothing and starts nothing.
 */
export const lookupSite = ({ url, allowed_proxy_countries }: LookupRequest, deps: Deps): LookupAnswer =>
  lookupTarget({ target: requireTarget(url), countries: requireCountries(allowed_proxy_countries, deps) }, deps);
