import { deleteSecret, type ObjectController } from "../../core/reconcile/object-controller.ts";
import { secretFinalizer } from "../../platform/kinds/kind.ts";
import { ownProxySecretName, proxyKind, type WebProxy } from "./proxy.ts";
import type { ProxyProvider } from "./rules/proxy-provider.ts";
import { proxyStatus } from "./status.ts";

/** Keeps the status of proxies. Two of them may have one name, so none reads another. */
export const proxyController: ObjectController<WebProxy, { proxyProvider: ProxyProvider }> = {
  name: "proxies",
  kind: proxyKind,
  reads: [],
  finalizer: secretFinalizer,
  release: deleteSecret(ownProxySecretName),
  statusOf: (proxy, { proxyProvider: provider, now }) => proxyStatus(proxy, { provider, nowMs: now() }),
};
