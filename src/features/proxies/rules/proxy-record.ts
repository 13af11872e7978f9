/** A proxy as the HTTP API shows it: without its secrets (PROXY-9). */
import { wireId, wireName } from "../../../platform/kinds/identity.ts";
import type { ProxySpec, WebProxy } from "../proxy.ts";
import type { ProxyRecord } from "../proxy-wire.ts";
import { protocolOf } from "./parent-proxy.ts";
import { lastCheck } from "./proxy-check.ts";
import type { ProxyProvider } from "./proxy-provider.ts";

const configOf = (spec: ProxySpec): ProxyRecord["config"] => {
  switch (spec.type) {
    case "datacenter":
      return { country: spec.datacenter?.country ?? "US" };
    case "isp":
      return { country: spec.isp?.country ?? "US" };
    case "residential":
      return spec.residential ?? {};
    case "mobile":
      return spec.mobile ?? {};
    case "custom": {
      if (!spec.custom) return {};
      const { host, port, username, hasPassword, hasCaBundle } = spec.custom;
      return { host, port, ...(username && { username }), has_password: hasPassword, has_ca_bundle: hasCaBundle };
    }
  }
};

/** `provider`: of the installation. */
export const proxyRecord = (proxy: WebProxy, provider: ProxyProvider): ProxyRecord => {
  const name = wireName(proxy);
  const check = lastCheck(proxy);
  const { type, bypassHosts } = proxy.spec;
  return {
    id: wireId(proxy),
    ...(name && { name }),
    type,
    protocol: protocolOf(proxy, provider),
    ...(bypassHosts && { bypass_hosts: bypassHosts }),
    config: configOf(proxy.spec),
    ...(check && { status: check.status, last_checked: check.checkedAt }),
    ...(check?.ipAddress && { ip_address: check.ipAddress }),
  };
};
