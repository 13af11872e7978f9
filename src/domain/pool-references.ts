import type { BrowserPoolSpec } from "../resources/browser-pool.ts";
import type { Selector } from "../resources/selector.ts";

export type ReferencedKind = "Profile" | "Extension" | "Proxy";

/** A field of a pool's spec that refers to another object. `path`: the field as the HTTP API writes it. */
export type Reference = { kind: ReferencedKind; path: string; selector: Selector };

/** All references in the spec of a pool or a browser, in the order of the fields. */
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

/** The message about a reference. This version has none of these kinds, so every reference to them is missing. */
export const missingReference = ({ kind, selector }: Reference): string =>
  `no ${kind.toLowerCase()} with ${selector.id === undefined ? `name ${selector.name}` : `id ${selector.id}`} in this project`;
