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

/** Proxies that the traffic of browsers takes. */
export const proxies = {
  kinds: [proxyKind],
  contents: [{ kind: proxyKind, what: "proxies" }],
  announced: [{ name: "proxy", kind: proxyKind, permission: "pools:read" }],
  controllers: [proxyController],
  routes: [createProxyRoute, listProxiesRoute, getProxyRoute, updateProxyRoute, deleteProxyRoute, checkProxyRoute],
} satisfies Feature;
