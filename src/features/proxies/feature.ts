import type { Feature } from "../../core/api/feature.ts";
import { proxyController } from "./controller.ts";
import { proxyKind } from "./proxy.ts";
import {
  checkProxyRoute,
  createProxyRoute,
  deleteProxyRoute,
  getProxyRoute,
  listProxiesRoute,
  updateProxyRoute,
} from "./routes.ts";
import type { ProxyProvider } from "./rules/proxy-provider.ts";

/** Proxies that the traffic of browsers takes. */
export const proxies: Feature<{ proxyProvider: ProxyProvider }> = {
  kinds: [proxyKind],
  contents: [{ kind: proxyKind, what: "proxies" }],
  controllers: [proxyController],
  routes: [createProxyRoute, listProxiesRoute, getProxyRoute, updateProxyRoute, deleteProxyRoute, checkProxyRoute],
};
