import type { PoolLikeSpec } from "../../../core/model/browsers/on-demand-pool.ts";
import { resolveViewport } from "../../../core/model/settings/browser-settings.ts";
import { settingTable } from "../../../core/model/settings/setting-table.ts";
import type { ProxySpec } from "../../proxies/proxy.ts";
import { managedProxyTypes, type Recipe } from "../site-recipe.ts";
import { spelledOut } from "./site.ts";

/**
 * The settings of which a recipe says nothing and a site may notice, with the value that a session must have of each.
 */
const only = Object.entries(settingTable).flatMap(([key, { recipe }]) =>
  typeof recipe === "object" ? [[key as keyof PoolLikeSpec, recipe.only] as const] : [],
);

/**
 * The recipe of a managed proxy; undefined for a proxy that nobody else can have, or that takes only some of the
 * traffic.
 */
const proxyRecipeOf = ({ name: _, custom: __, type, ...proxy }: ProxySpec): Recipe["proxy"] | undefined => {
  const managed = managedProxyTypes.find((one) => one === type);
  return managed && !proxy.bypassHosts?.length ? { ...proxy, type: managed } : undefined;
};

const viewportOf = ({ viewport, gpu = false }: PoolLikeSpec): Recipe["browser"]["viewport"] => {
  const { width, height, refreshRate } = resolveViewport(viewport, { gpu });
  const usual = resolveViewport({ width, height }, { gpu }).refreshRate;
  return { width, height, ...(refreshRate !== usual && { refreshRate }) };
};

/**
 * The configuration of a browser as the config registry knows it; undefined when its settings are more than a lookup
 * recommends (LOOKUP-84). `proxy`: what the spec refers to; undefined when it is not there.
 */
export const sessionRecipe = (spec: PoolLikeSpec, proxy: ProxySpec | undefined): Recipe | undefined => {
  const { stealth, headless, gpu = false, proxyId } = spec;
  if (only.some(([key, value]) => spec[key] !== value)) return undefined;
  const browser = { stealth, headless, gpu, viewport: viewportOf(spec) };
  if (proxyId === undefined) return { browser };
  const managed = proxy && proxyRecipeOf(proxy);
  return managed && spelledOut({ browser, proxy: managed });
};
