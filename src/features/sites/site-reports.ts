/**
 * What sessions found of sites, on its way to the operator, which alone writes knowledge. It is published and nowhere
 * stored: what is sent while no operator leads, or Redis is away, is lost.
 */
import { z } from "zod";
import type { ReportOf } from "../../core/model/browsers/on-demand-pool.ts";
import { configHash } from "../../core/model/settings/browser-config.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { followChannel } from "../../platform/redis/follow-channel.ts";
import { siteReportsChannel } from "../../platform/redis/keys.ts";
import { proxyKind } from "../proxies/proxy.ts";
import { sessionRecipe } from "./rules/session-recipe.ts";

/**
 * `project`: whose session it was. `recipe`: the browser's configuration, as src/features/sites/site-recipe.ts has it.
 */
export const SiteReport = z.object({
  session: z.string(),
  project: z.string(),
  recipe: z.unknown(),
  target: z.string(),
  verdict: z.enum(["accessed", "blocked"]),
});
export type SiteReport = z.infer<typeof SiteReport>;

/** `tell`: sends a report in the background; it never throws. */
export type SiteReports = { tell(report: SiteReport): void };

/** Reports over this Redis. */
export const createSiteReports = (redis: RedisConnection): SiteReports => ({
  tell(report) {
    redis.publish(siteReportsChannel, JSON.stringify(report)).catch(() => undefined);
  },
});

/** Calls `onReport` for each report. */
export const followSiteReports = (
  subscriber: RedisConnection,
  onReport: (report: SiteReport) => void,
  log: Logger,
): Promise<void> =>
  followChannel(subscriber, siteReportsChannel, (text) => {
    try {
      onReport(SiteReport.parse(JSON.parse(text)));
    } catch {
      // What it says is not for logs.
      log.error("a report of a session could not be read");
    }
  });

/** Reads the browser's proxy. */
export const createSessionReport =
  (kube: Pick<Kube, "get">): ReportOf =>
  async (spec, namespace) => {
    const { proxyId } = spec;
    const proxy = proxyId === undefined ? undefined : await kube.get(proxyKind, { namespace, name: proxyId });
    const recipe = sessionRecipe(spec, proxy?.spec);
    return recipe && { config: configHash(spec), recipe };
  };
