import { parentProxyOf } from "../../domain/parent-proxy.ts";
import { wireProxyProblems } from "../../domain/proxy-create.ts";
import { unsupportedSettings } from "../../domain/proxy-provider.ts";
import { notSupportedHere } from "../../errors.ts";
import type { ParentProxy } from "../../protocol/browser-setup.ts";
import type { WebProxy } from "../../resources/proxy.ts";
import { openProxySecret } from "../../secrets/proxy-secret.ts";
import type { ServiceDeps } from "../service-deps.ts";

/**
 * A proxy as agents and checks connect to it, with its secrets. `session`: what a provider keeps one address for. Throws
 * `not_supported_here` when the installation can't carry the proxy out, and what `openProxySecret` throws.
 */
export const openParentProxy = async (
  proxy: WebProxy,
  session: string,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys" | "proxyProvider">,
): Promise<ParentProxy> => {
  const secret = await openProxySecret(proxy, deps);
  const parent = parentProxyOf(proxy, secret, deps.proxyProvider, session);
  if (!parent) throw notSupportedHere(wireProxyProblems(unsupportedSettings(proxy.spec, deps.proxyProvider)));
  return parent;
};
