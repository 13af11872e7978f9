import type { Feature } from "../../core/api/feature.ts";
import { siteAnalysisKind } from "./analyses/site-analysis.ts";
import { siteConfigKind } from "./configs/site-config.ts";
import { mountRegistry } from "./pages/mount-pages.ts";
import {
  cancelAnalysisRoute,
  getAnalysisRoute,
  listAnalysesRoute,
  listRecommendationsRoute,
  listSitesRoute,
  lookupSiteRoute,
  resolveSiteRoute,
} from "./routes.ts";
import { siteEvidenceKind } from "./site-evidence.ts";

/** The config registry: which settings reach a site. */
export const sites = {
  kinds: [siteConfigKind, siteEvidenceKind, siteAnalysisKind],
  routes: [
    lookupSiteRoute,
    resolveSiteRoute,
    listAnalysesRoute,
    getAnalysisRoute,
    cancelAnalysisRoute,
    listRecommendationsRoute,
    listSitesRoute,
  ],
  mountOps: mountRegistry,
} satisfies Feature;
