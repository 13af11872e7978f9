/**
 * `GET /registry`: what the config registry knows, for people. It needs no key, so it is on the ops port only, or where
 * the API listens on loopback. It shows what every project may look up anyway, and screenshots of public pages.
 */

import type { Express, Request, Response } from "express";
import { z } from "zod";
import type { Config } from "../../../core/config/config.ts";
import { validate } from "../../../core/http/middleware/validate.ts";
import { styleSheet } from "../../../core/http/pages/style-sheet.ts";
import { AppError, httpStatus } from "../../../platform/base/errors.ts";
import type { BlobStore } from "../../../platform/blobs/blob-store.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import type { SiteAnalysis } from "../analyses/site-analysis.ts";
import { listSites } from "../list-sites.ts";
import type { SiteIndex } from "../site-index.ts";
import { maxUrlLength, siteScopes } from "../site-recipe.ts";
import { openScreenshot, viewAnalyses, viewSite } from "../view-sites.ts";
import { analysesPage, noticePage, sitePage, sitesPage, style } from "./pages.ts";

const pageSize = 50;
const analysesAtOnce = 20;

/** Its own pictures and its own style; no script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const offset = z.coerce.number().int().min(0).max(1_000_000).catch(0).default(0);

const ListQuery = z.object({
  query: z.string().max(maxUrlLength).default(""),
  scope: z
    .enum(["", ...siteScopes])
    .catch("")
    .default(""),
  offset,
});

type Services = { analyses: Reflector<SiteAnalysis>; blobs: BlobStore; config: Config; kube: Kube; sites: SiteIndex };

const SiteQuery = z.object({ scope: z.enum(siteScopes), target: z.string().min(1).max(maxUrlLength) });

const ScreenshotParams = z.object({
  id: z.string().regex(/^[a-z0-9]{1,63}$/),
  trial: z.coerce.number().int().min(0).max(999),
});

const secured = (response: Response): Response =>
  response.set({
    "Content-Security-Policy": contentSecurityPolicy,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
  });

const signalOf = (response: Response): AbortSignal => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  return gone.signal;
};

/** `services`: undefined until the process has started. */
export const mountRegistry = (app: Express, services: () => Services | undefined): void => {
  const show = (
    path: string,
    answer: (request: Request, response: Response, deps: Services) => Promise<string | undefined>,
  ): void => {
    app.get(path, async (request, response) => {
      const deps = services();
      secured(response);
      if (!deps) return void response.status(503).type("html").send(noticePage("Not yet", "The service is starting."));
      try {
        const page = await answer(request, response, deps);
        if (page !== undefined) response.type("html").send(page);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        response.status(httpStatus[error.code]).type("html").send(noticePage("It can't be shown", error.message));
      }
    });
  };
  app.get("/registry/page.css", (_request, response) => {
    secured(response).set("Cache-Control", "no-cache").type("css").send(styleSheet(style));
  });
  show("/registry", async (request, response, deps) => {
    const { query, scope, offset: from } = validate(ListQuery, request.query);
    const wanted = { query, scope: scope || undefined, offset: from, limit: pageSize };
    const { sites, hasMore } = await listSites(wanted, deps, signalOf(response));
    const page = { offset: from, limit: pageSize, hasMore };
    return sitesPage({ sites, query, scope, page, size: deps.sites.size() });
  });
  show("/registry/site", async (request, response, deps) => {
    const place = validate(SiteQuery, request.query);
    const view = viewSite(place, deps);
    if (view) return sitePage(view);
    response.status(404);
    return noticePage("Unknown site", `Nothing is known of ${place.target} (${place.scope}).`);
  });
  show("/registry/analyses", async (request, _response, deps) => {
    const { offset: from } = validate(ListQuery, request.query);
    const all = viewAnalyses(deps);
    const page = { offset: from, limit: analysesAtOnce, hasMore: all.length > from + analysesAtOnce };
    return analysesPage(all.slice(from, from + analysesAtOnce), page);
  });
  show("/registry/screenshots/:id/:trial", async (request, response, deps) => {
    const { id, trial } = validate(ScreenshotParams, request.params);
    const bytes = await openScreenshot({ id, trial }, deps, signalOf(response));
    if (!bytes)
      throw new AppError("not_found", "there is no such screenshot; a new run of the analysis deletes the old ones");
    response.type("image/webp").send(bytes);
    return undefined;
  });
};
