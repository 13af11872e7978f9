/**
 * Finds the logins of connections in the stores of providers. Lists of items are kept in this process for a while, without values;
 * a login itself is read anew for each use, and kept nowhere.
 */
import type { Project } from "../../../core/projects/projects.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import type { Login } from "../connections/rules/change-login.ts";
import { type OpenStoreDeps, openStore } from "./open-store.ts";
import type { ProviderItem } from "./provider.ts";
import { fetchProviders, type StoredProvider } from "./provider-secret.ts";
import { chooseItem, isFor } from "./rules/choose-item.ts";
import { originsOf } from "./rules/item.ts";
import { ProviderFailed } from "./store.ts";

/** How long a store that has failed is not asked for its list again, ms. */
const afterFailureMs = 5000;

type Kept = { version: string; list: Promise<ProviderItem[]>; untilMs: number };
type Deps = OpenStoreDeps;

/** A login from a provider. `allowedOrigins`: the only ones that it may be typed into. */
type ExternalLogin = { login: Login; allowedOrigins: string[] };

export type ProviderLookups = {
  /** The items of a provider, at most as old as it allows. Throws `ProviderFailed`. */
  items(provider: StoredProvider): Promise<ProviderItem[]>;
  /** The login of a connection, as it is now. Throws `ProviderFailed`. */
  open(connection: AuthConnection, project: Project): Promise<ExternalLogin>;
};

const mayUse = ({ enabled, projects }: StoredProvider, project: Project): boolean =>
  enabled && (projects === null || projects.includes(project.id));

type Lists = { items: ProviderLookups["items"]; forget(isKept: (id: string) => boolean): void };

/** The lists of this process. */
const createLists = (deps: Deps): Lists => {
  const kept = new Map<string, Kept>();
  const list = async (provider: StoredProvider): Promise<ProviderItem[]> => (await openStore(provider, deps)).list();
  return {
    items(provider) {
      const known = kept.get(provider.id);
      if (known?.version === provider.version && known.untilMs > performance.now()) return known.list;
      // Until it has come, all who ask wait for the same list.
      const one: Kept = { version: provider.version, list: list(provider), untilMs: Infinity };
      kept.set(provider.id, one);
      const keepFor = (ms: number) => () => {
        one.untilMs = performance.now() + ms;
      };
      one.list.then(keepFor(provider.cache_ttl_seconds * 1000), keepFor(afterFailureMs));
      return one.list;
    },
    forget(isKept) {
      for (const id of kept.keys()) if (!isKept(id)) kept.delete(id);
    },
  };
};

type Found = ExternalLogin & { item: ProviderItem };

const read = async (provider: StoredProvider, path: string, deps: Deps): Promise<Found> => {
  const { item, login } = await (await openStore(provider, deps)).read(path);
  return { item, login, allowedOrigins: originsOf(item) };
};

/** The item that a list has for a domain, if the store still has it so. */
const readListed = async (provider: StoredProvider, domain: string, lists: Lists, deps: Deps) => {
  const chosen = chooseItem(await lists.items(provider), domain);
  if (!chosen) return undefined;
  const found = await read(provider, chosen.path, deps).catch((error: unknown) => {
    if (error instanceof ProviderFailed && error.code === "external_credential_not_found") return undefined;
    throw error;
  });
  return found && isFor(found.item, domain) ? found : "changed";
};

/** By the domain. What has changed since the list was made is looked up in a new one, once. */
const search = async (provider: StoredProvider, domain: string, lists: Lists, deps: Deps) => {
  const found = await readListed(provider, domain, lists, deps);
  if (found !== "changed") return found;
  lists.forget((id) => id !== provider.id);
  const again = await readListed(provider, domain, lists, deps);
  return again === "changed" ? undefined : again;
};

/** Looks in the stores of the organization's providers. */
export const createProviderLookups = (deps: Deps): ProviderLookups => {
  const lists = createLists(deps);
  return {
    items: lists.items,
    async open({ spec: { credential = {}, domain } }, project) {
      const all = await fetchProviders(deps);
      lists.forget((id) => all.some((one) => one.id === id));
      const { provider: name, path } = credential;
      const usable = all.filter((one) => mayUse(one, project) && (name === undefined || one.name === name));
      const [first] = usable;
      if (!first) throw new ProviderFailed("external_credential_not_found", "this project has no such provider");
      if (path !== undefined) return read(first, path, deps);
      for (const provider of usable) {
        const found = await search(provider, domain, lists, deps);
        if (found) return found;
      }
      throw new ProviderFailed("external_credential_not_found", "no provider has an item for the domain");
    },
  };
};
