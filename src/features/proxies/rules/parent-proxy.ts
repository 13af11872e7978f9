import type { ParentProxy } from "../../../core/protocol/browser-setup.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { wireId } from "../../../platform/kinds/identity.ts";
import type { WebProxy } from "../proxy.ts";
import { gatewayFor, type ProxyProvider, unsupportedSettings, usernameFor } from "./proxy-provider.ts";

/** What a proxy's Secret contains. */
export type ProxySecret = { password?: Sensitive; caBundle?: string };

/**
 * How browsers connect to the proxy itself: as its spec says, else as the provider's gateway is reached, else by TLS.
 */
export const protocolOf = ({ spec }: Pick<WebProxy, "spec">, provider: ProxyProvider): "http" | "https" =>
  spec.protocol ?? gatewayFor(spec, provider)?.protocol ?? "https";

/**
 * A proxy as agents and checks connect to it, with its secrets in plain text: call it right before that. `session`:
 * what a provider keeps one address for; letters and digits of it count, 32 at most. Undefined when the installation
 * can't carry the proxy out.
 */
export const parentProxyOf = (
  proxy: WebProxy,
  secret: ProxySecret,
  provider: ProxyProvider,
  session: string,
): ParentProxy | undefined => {
  const { spec } = proxy;
  const common = { id: wireId(proxy), protocol: protocolOf(proxy, provider), bypass_hosts: spec.bypassHosts ?? [] };
  const login = (username: string | undefined, { password, caBundle }: ProxySecret) => ({
    ...(username && { username }),
    ...(password && { password: password.reveal() }),
    ...(caBundle && { ca_bundle: caBundle }),
  });
  if (spec.custom)
    return { ...common, host: spec.custom.host, port: spec.custom.port, ...login(spec.custom.username, secret) };
  const gateway = gatewayFor(spec, provider);
  if (!gateway || unsupportedSettings(spec, provider).length > 0) return undefined;
  const { host, port } = gateway;
  return { ...common, host, port, ...login(usernameFor(spec, gateway, session), gateway) };
};
