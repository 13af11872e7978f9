import type { ProxyAnswer } from "../../../proxies/proxy-wire.ts";
import { State } from "./state.tsx";

/** The name of a proxy, or its id. */
export const proxyName = ({ name, id }: ProxyAnswer): string => name ?? id;

/** Where a proxy is, or what the provider is asked for: `proxy.example:8080`, `US`. */
export const proxyPlace = ({ config: { host, port, country, state, city } }: ProxyAnswer): string =>
  host === undefined ? [country, state, city].filter(Boolean).join(", ") : `${host}:${port}`;

/** What the last check found. */
export const ProxyState = ({ of }: { of: ProxyAnswer }) => {
  if (of.status === undefined) return <State tone="quiet">Not checked</State>;
  return of.status === "available" ? <State tone="good">Works</State> : <State tone="bad">Does not answer</State>;
};
