import type { ReportOf } from "../../core/model/browsers/on-demand-request.ts";
import { configHash } from "../../core/model/settings/browser-config.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { proxyKind } from "../proxies/proxy.ts";
import { sessionRecipe } from "./rules/session-recipe.ts";

/** Reads the browser's proxy. */
export const createSessionReport =
  (kube: Pick<Kube, "get">): ReportOf =>
  async (spec, namespace) => {
    const { proxyId } = spec;
    const proxy = proxyId === undefined ? undefined : await kube.get(proxyKind, { namespace, name: proxyId });
    const recipe = sessionRecipe(spec, proxy?.spec);
    return recipe && { config: configHash(spec), recipe };
  };
