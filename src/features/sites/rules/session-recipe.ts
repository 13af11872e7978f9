import type { PoolLikeSpec } from "../../../core/model/browsers/on-demand-pool.ts";
import { resolveViewport } from "../../../core/model/settings/viewport.ts";
import type { ProxySpec } from "../../proxies/proxy.ts";
import { managedProxyTypes, type Recipe } from "../site-recipe.ts";
import { spelledOut } from "./site.ts";

/** Settings that a recipe has no place for, and that a site may notice. */
const others = ["chromePolicy", "chromePolicyRef", "extensions", "network", "profile"] as const;

/** The recipe of a managed proxy; undefined for one that nobody else can have, or that takes only some of the traffic. */
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
 * The configuration of a browser as the config registry knows it; undefined when its settings are more than a lookup recommends
 * (LOOKUP-84). `proxy`: the one that the spec refers to; undefined when it is not there.
 */
export const sessionRecipe = (spec: PoolLikeSpec, proxy: ProxySpec | undefined): Recipe | undefined => {
  const { stealth, headless, kioskMode, gpu = false, memory, reusePolicy, proxyId } = spec;
  if (kioskMode || memory !== "8GiB" || reusePolicy !== "reset") return undefined;
  if (others.some((key) => spec[key] !== undefined)) return undefined;
  const browser = { stealth, headless, gpu, viewport: viewportOf(spec) };
  if (proxyId === undefined) return { browser };
  const managed = proxy && proxyRecipeOf(proxy);
  return managed && spelledOut({ browser, proxy: managed });
};
