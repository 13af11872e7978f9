import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../core/config/config.ts";
import { bestFirst, isEligible } from "./rules/recommend.ts";
import { browserRecord, evidenceRecord, proxyRecipe } from "./rules/recommendation-record.ts";
import { type SiteIndex, type SitePlace, siteDomain } from "./site-index.ts";
import type { SiteScope } from "./site-recipe.ts";
import type { SiteRecord } from "./site-wire.ts";

/** Names that are looked at before others have their turn: about a millisecond. */
const atOnce = 5000;

type SiteQuery = { query?: string | undefined; scope?: SiteScope | undefined; limit: number; offset: number };

/** A site as answers show it; undefined when it has gone meanwhile. */
export const siteRecord = (
  place: SitePlace,
  { sites, config }: { config: Config; sites: SiteIndex },
): SiteRecord | undefined => {
  const site = sites.of(siteDomain(place)).find(place);
  return (
    site && {
      ...place,
      configurations: bestFirst(site.known).map(({ recipe, evidence, decisive }) => ({
        browser: browserRecord(recipe.browser),
        proxy: proxyRecipe(recipe.proxy),
        eligible: isEligible(decisive, config.registry),
        evidence: evidenceRecord(evidence),
      })),
      guidance: site.guidance ?? null,
    }
  );
};

/** A page of what the registry knows; `query`: a part of the name. Yields to others while it searches. */
export const listSites = async (
  { query, scope, limit, offset }: SiteQuery,
  deps: { config: Config; sites: SiteIndex },
  signal: AbortSignal,
): Promise<{ sites: SiteRecord[]; hasMore: boolean }> => {
  const part = query?.toLowerCase();
  const found: SitePlace[] = [];
  let seen = 0;
  let matching = 0;
  for (const place of deps.sites.places()) {
    seen += 1;
    if (seen % atOnce === 0) {
      await nextTurn();
      signal.throwIfAborted();
    }
    if ((scope && place.scope !== scope) || (part && !place.target.toLowerCase().includes(part))) continue;
    matching += 1;
    if (matching > offset + limit) break;
    if (matching > offset) found.push(place);
  }
  return { sites: found.flatMap((place) => siteRecord(place, deps) ?? []), hasMore: matching > offset + limit };
};
