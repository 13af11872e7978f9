import type { PoolLikeSpec } from "../../core/model/browsers/on-demand-pool.ts";
import type { SessionReport } from "../../core/model/browsers/on-demand-request.ts";
import { configHash } from "../../core/model/settings/browser-config.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { proxyKind } from "../proxies/proxy.ts";
import { sessionRecipe } from "./rules/session-recipe.ts";

/**
 * What the request of a session has whose caller allows a report; undefined when its browser has settings that no lookup recommends. Reads
 * the browser's proxy. `namespace`: of the project.
 */
export const sessionReport = async (
  spec: PoolLikeSpec,
  namespace: string,
  { kube }: { kube: Kube },
): Promise<SessionReport | undefined> => {
  const { proxyId } = spec;
  const proxy = proxyId === undefined ? undefined : await kube.get(proxyKind, { namespace, name: proxyId });
  const recipe = sessionRecipe(spec, proxy?.spec);
  return recipe && { config: configHash(spec), recipe };
};
