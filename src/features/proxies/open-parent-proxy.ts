import type { ParentProxy } from "../../core/protocol/browser-setup.ts";
import { notSupportedHere } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { SecretsKeys } from "../../platform/secrets/secrets-key.ts";
import type { WebProxy } from "./proxy.ts";
import { openProxySecret } from "./proxy-secret.ts";
import { parentProxyOf } from "./rules/parent-proxy.ts";
import { wireProxyProblems } from "./rules/proxy-create.ts";
import { type ProxyProvider, unsupportedSettings } from "./rules/proxy-provider.ts";

/**
 * A proxy as agents and checks connect to it, with its secrets. `session`: what a provider keeps one address for. Throws
 * `not_supported_here` when the installation can't carry the proxy out, and what `openProxySecret` throws.
 */
export const openParentProxy = async (
  proxy: WebProxy,
  session: string,
  deps: { kube: Kube; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys },
): Promise<ParentProxy> => {
  const secret = await openProxySecret(proxy, deps);
  const parent = parentProxyOf(proxy, secret, deps.proxyProvider, session);
  if (!parent) throw notSupportedHere(wireProxyProblems(unsupportedSettings(proxy.spec, deps.proxyProvider)));
  return parent;
};
