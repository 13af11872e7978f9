/** The address of the page is where the console is: each view is a path, and its filters are the query. */
import { batch, signal } from "@preact/signals";

const root = "/console";

/** Below the console, without a slash at the end: "" for its first page. */
export const path = signal("");

/** The filters of the view. */
export const query = signal<URLSearchParams>(new URLSearchParams());

const read = (): void =>
  batch(() => {
    path.value = location.pathname.slice(root.length).replace(/\/+$/, "");
    query.value = new URLSearchParams(location.search);
  });

/** The id of the project that the address names; undefined: none, or what is no id. */
export const projectInAddress = (): string | undefined => {
  const text = query.value.get("project") ?? "";
  return /^[a-z0-9-]{1,63}$/.test(text) ? text : undefined;
};

/** The address of a view, for links: `["pools", id]` with what else is in the query; the project stays in it. */
export const to = (parts: readonly string[], wanted: Readonly<Record<string, string>> = {}): string => {
  const chosen = projectInAddress();
  const text = new URLSearchParams({ ...(chosen && { project: chosen }), ...wanted }).toString();
  return [root, ...parts.map(encodeURIComponent)].join("/") + (text && `?${text}`);
};

/** Goes to an address of the console. */
export const go = (address: string): void => {
  history.pushState(null, "", address);
  read();
  scrollTo(0, 0);
};

/**
 * Puts a filter into the address; "" takes it out. It makes no step of the history. `drops`: another one, which goes:
 * the place in what was found with the filters before.
 */
export const setFilter = (name: string, value: string, drops = ""): void => {
  const next = new URLSearchParams(query.value);
  next.delete(drops);
  if (value === "") next.delete(name);
  else next.set(name, value);
  const text = next.toString();
  history.replaceState(null, "", location.pathname + (text && `?${text}`));
  read();
};

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** Begins to follow the address, and to open links of the console without loading the page again. */
export const startRouter = (): void => {
  read();
  addEventListener("popstate", read);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || event.defaultPrevented || !isPlain(event) || link.target !== "") return;
    if (link.origin !== location.origin || !link.pathname.startsWith(root) || link.hasAttribute("download")) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
};
