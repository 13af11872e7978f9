import { isDeepStrictEqual } from "node:util";
import { byAge } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import type { EligibleRules } from "../rules/recommend.ts";
import { type SiteConfig, siteConfigKind } from "./site-config.ts";
import { siteConfigStatus } from "./status.ts";

type ReconcileSiteConfigDeps = {
  kube: Pick<Kube, "replace">;
  configs: Pick<Reflector<SiteConfig>, "get" | "put">;
  /** The names of all objects with the scope and target of this one. */
  rivalsOf(config: SiteConfig): Iterable<string>;
  rules: EligibleRules;
  lead: Pick<Lead, "check">;
};

/** One round for one SiteConfig. Safe to repeat at any point. */
export const reconcileSiteConfig = async (
  name: string,
  { kube, configs, rivalsOf, rules, lead }: ReconcileSiteConfigDeps,
): Promise<undefined> => {
  const config = configs.get({ name });
  if (!config || config.metadata.deletionTimestamp) return;
  const rivals = [...rivalsOf(config)].flatMap((rival) => configs.get({ name: rival }) ?? []);
  const holder = rivals.filter(({ metadata }) => !metadata.deletionTimestamp).sort(byAge)[0] ?? config;
  const status = siteConfigStatus(config, { holder, rules, nowMs: Date.now() });
  if (isDeepStrictEqual(config.status, status)) return;
  lead.check();
  configs.put(await kube.replace(siteConfigKind, { ...config, status }, { subresource: "status" }));
};
