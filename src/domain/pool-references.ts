import type { BrowserPoolSpec } from "../resources/browser-pool.ts";
import type { Selector } from "../resources/selector.ts";

export type ReferencedKind = "Profile" | "Extension" | "Proxy";

/** One place in a pool's spec that names another object. `path` is the field as the HTTP API writes it. */
export type Reference = { kind: ReferencedKind; path: string; selector: Selector };

/** Everything in the project that the spec of a pool or a browser refers to, in the order of the fields. */
export const referencesOf = (
  spec: Pick<BrowserPoolSpec, "profile" | "proxyId" | "extensions" | "network">,
): Reference[] => [
  ...(spec.profile ? [{ kind: "Profile" as const, path: "profile", selector: spec.profile }] : []),
  ...(spec.proxyId ? [{ kind: "Proxy" as const, path: "proxy_id", selector: { id: spec.proxyId } }] : []),
  ...(spec.extensions ?? []).map((selector, index) => ({
    kind: "Extension" as const,
    path: `extensions[${index}]`,
    selector,
  })),
  ...(spec.network?.proxyRoutes ?? []).map(({ proxy }, index) => ({
    kind: "Proxy" as const,
    path: `network.proxy_routes[${index}].proxy`,
    selector: proxy,
  })),
];

/** Kinds that can be referred to but don't exist in this version: a reference to one of them names nothing. */
export const missingReference = ({ kind, selector }: Reference): string =>
  `no ${kind.toLowerCase()} with ${selector.id === undefined ? `name ${selector.name}` : `id ${selector.id}`} in this project`;
