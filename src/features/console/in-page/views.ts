/** The views by their address, and what a key must be allowed to do for each. */
import type { ComponentType } from "preact";
import { may } from "./service/session.ts";

/**
 * `path`: of the view, `:` begins a part that stands for an id. `orPermission`: another one that is enough. `load`: its
 * code, which comes when it is first seen.
 */
export type View = {
  path: string;
  title: string;
  permission: string;
  orPermission?: string;
  load: () => Promise<{ View: ComponentType<{ id: string; more: string }> }>;
};

/** All views. Of two that an address fits, the first one is meant. */
export const views: readonly View[] = [
  {
    ...{ path: "/needs-you", title: "Needs you", permission: "pools:read", orPermission: "vaults:read" },
    load: () => import("./views/needs-you.tsx"),
  },
  { path: "/pools", title: "Pools", permission: "pools:read", load: () => import("./views/pools.tsx") },
  { path: "/pools/:id", title: "Pool", permission: "pools:read", load: () => import("./views/pool.tsx") },
  { path: "/sessions", title: "Sessions", permission: "pools:read", load: () => import("./views/sessions.tsx") },
  { path: "/sessions/:id", title: "Session", permission: "pools:read", load: () => import("./views/session.tsx") },
  { path: "/vaults", title: "Vaults", permission: "vaults:read", load: () => import("./views/vaults.tsx") },
  { path: "/vaults/:id", title: "Vault", permission: "vaults:read", load: () => import("./views/vault.tsx") },
  {
    ...{ path: "/vaults/:id/items/:key", title: "Item", permission: "vaults:read" },
    load: () => import("./views/vault-item.tsx"),
  },
  { path: "/logins", title: "Logins", permission: "vaults:read", load: () => import("./views/logins.tsx") },
  { path: "/logins/:id", title: "Login", permission: "vaults:read", load: () => import("./views/login.tsx") },
  {
    ...{ path: "/credentials", title: "Credentials", permission: "vaults:read" },
    load: () => import("./views/credentials.tsx"),
  },
  {
    ...{ path: "/credentials/:id", title: "Credential", permission: "vaults:read" },
    load: () => import("./views/credential.tsx"),
  },
  { path: "/sites", title: "Sites", permission: "registry:read", load: () => import("./views/sites.tsx") },
  {
    ...{ path: "/sites/analyses/:id", title: "Analysis", permission: "registry:read" },
    load: () => import("./views/analysis.tsx"),
  },
  { path: "/sites/:scope/:target", title: "Site", permission: "registry:read", load: () => import("./views/site.tsx") },
  { path: "/profiles", title: "Profiles", permission: "pools:read", load: () => import("./views/profiles.tsx") },
  { path: "/profiles/:id", title: "Profile", permission: "pools:read", load: () => import("./views/profile.tsx") },
  { path: "/proxies", title: "Proxies", permission: "pools:read", load: () => import("./views/proxies.tsx") },
  { path: "/proxies/:id", title: "Proxy", permission: "pools:read", load: () => import("./views/proxy.tsx") },
  { path: "/extensions", title: "Extensions", permission: "pools:read", load: () => import("./views/extensions.tsx") },
  {
    path: "/extensions/:id",
    title: "Extension",
    permission: "pools:read",
    load: () => import("./views/extension.tsx"),
  },
  { path: "/telemetry", title: "Telemetry", permission: "pools:read", load: () => import("./views/destinations.tsx") },
  {
    ...{ path: "/telemetry/:id", title: "Destination", permission: "pools:read" },
    load: () => import("./views/destination.tsx"),
  },
  { path: "/api-keys", title: "API keys", permission: "organization", load: () => import("./views/api-keys.tsx") },
  { path: "/api-keys/:id", title: "API key", permission: "organization", load: () => import("./views/api-key.tsx") },
  { path: "/projects", title: "Projects", permission: "organization", load: () => import("./views/projects.tsx") },
  { path: "/projects/:id", title: "Project", permission: "organization", load: () => import("./views/project.tsx") },
  { path: "/limits", title: "Limits", permission: "organization", load: () => import("./views/limits.tsx") },
  { path: "/audit", title: "Audit", permission: "organization", load: () => import("./views/audit.tsx") },
];

/** Whether the key of this person may see the view. */
export const maySee = ({ permission, orPermission }: View): boolean =>
  may(permission) || (orPermission !== undefined && may(orPermission));

/** The permission that shows the view, in words. */
export const neededFor = ({ permission, orPermission }: View): string =>
  orPermission === undefined ? permission : `${permission} or ${orPermission}`;

/** What the navigation has, in groups. */
export const navigation: readonly { title: string; paths: readonly string[] }[] = [
  { title: "Browsers", paths: ["/needs-you", "/pools", "/sessions"] },
  { title: "Logins", paths: ["/vaults", "/logins", "/credentials"] },
  { title: "Sites", paths: ["/sites"] },
  { title: "Building blocks", paths: ["/profiles", "/proxies", "/extensions", "/telemetry"] },
  { title: "Organization", paths: ["/api-keys", "/projects", "/limits", "/audit"] },
];

/** The text of a part of an address; undefined where it is no text. */
const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

/** The view of an address with the parts that stand for ids; undefined when there is none. */
export const viewAt = (path: string): { view: View; id: string; more: string } | undefined => {
  const parts = path.split("/");
  for (const view of views) {
    const wanted = view.path.split("/");
    if (wanted.length !== parts.length) continue;
    if (!wanted.every((part, index) => part.startsWith(":") || part === parts[index])) continue;
    const ids = parts.filter((_, index) => wanted[index]?.startsWith(":")).map(decoded);
    if (ids.includes(undefined)) return undefined;
    const [id = "", more = ""] = ids;
    return { view, id, more };
  }
  return undefined;
};
