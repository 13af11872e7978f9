/** The views by their address, and what a key must be allowed to do for each. */
import type { ComponentType } from "preact";

/** `path`: of the view, `:` begins a part that stands for an id. `load`: its code, which comes when it is first seen. */
type View = {
  path: string;
  title: string;
  permission: string;
  load: () => Promise<{ View: ComponentType<{ id: string; more: string }> }>;
};

/** All views. */
export const views: readonly View[] = [
  { path: "/pools", title: "Pools", permission: "pools:read", load: () => import("./views/pools.tsx") },
  { path: "/pools/:id", title: "Pool", permission: "pools:read", load: () => import("./views/pool.tsx") },
  { path: "/sessions", title: "Sessions", permission: "pools:read", load: () => import("./views/sessions.tsx") },
  { path: "/sessions/:id", title: "Session", permission: "pools:read", load: () => import("./views/session.tsx") },
];

/** What the navigation has, in groups. */
export const navigation: readonly { title: string; paths: readonly string[] }[] = [
  { title: "Browsers", paths: ["/pools", "/sessions"] },
];

/** The view of an address with the parts that stand for ids; undefined when there is none. */
export const viewAt = (path: string): { view: View; id: string; more: string } | undefined => {
  const parts = path.split("/");
  for (const view of views) {
    const wanted = view.path.split("/");
    if (wanted.length !== parts.length) continue;
    if (!wanted.every((part, index) => part.startsWith(":") || part === parts[index])) continue;
    const [id = "", more = ""] = parts.filter((_, index) => wanted[index]?.startsWith(":")).map(decodeURIComponent);
    return { view, id, more };
  }
  return undefined;
};
