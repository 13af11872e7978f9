/** A proxy as the HTTP API shows it: without its secrets (PROXY-9). */
import { z } from "zod";
import { wireId, wireName } from "../../../platform/kinds/identity.ts";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { ProxySpec, WebProxy } from "../proxy.ts";
import type { ProxyAnswer } from "../proxy-wire.ts";
import { protocolOf } from "./parent-proxy.ts";
import type { ProxyProvider } from "./proxy-provider.ts";

// What the last check of a proxy found. The API keeps it in an annotation of the proxy; the operator writes it into the
// status.

/** Annotation with a `ProxyCheck` as JSON. */
export const proxyCheckAnnotation = "browserpool.dev/proxy-check";

const ProxyCheck = z.object({
  status: z.enum(["available", "unavailable"]),
  /** RFC 3339 with milliseconds. */
  checkedAt: z.iso.datetime({ precision: 3 }),
  /** The address that sites see. */
  ipAddress: z.string().max(64).optional(),
  /** Of what was checked: a later change of it makes the result void. */
  hash: z.string(),
});
type ProxyCheck = z.infer<typeof ProxyCheck>;

const hashOf = ({ spec: { name: _, bypassHosts: __, ...checked } }: WebProxy): string => stableHash(checked);

/** The annotation's text for a result. */
export const checkText = (proxy: WebProxy, found: Omit<ProxyCheck, "hash">): string =>
  JSON.stringify({ ...found, hash: hashOf(proxy) });

/** The last check; undefined when there was none since the proxy was changed, or the annotation is none of ours. */
export const lastCheck = (proxy: WebProxy): ProxyCheck | undefined => {
  const text = proxy.metadata.annotations?.[proxyCheckAnnotation];
  if (text === undefined) return undefined;
  try {
    const { data } = ProxyCheck.safeParse(JSON.parse(text));
    return data?.hash === hashOf(proxy) ? data : undefined;
  } catch {
    return undefined;
  }
};

const configOf = (spec: ProxySpec): ProxyAnswer["config"] => {
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
export const proxyAnswer = (proxy: WebProxy, provider: ProxyProvider): ProxyAnswer => {
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
