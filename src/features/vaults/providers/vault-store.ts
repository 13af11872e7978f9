/** The entries of a key-value store, version 2, of a HashiCorp Vault or an OpenBao. */
import type { ProviderItem } from "./provider.ts";
import {
  encodedPath,
  hasValues,
  isKvPath,
  itemOfKv,
  KvData,
  KvKeys,
  KvMetadata,
  KvMount,
  type KvPlace,
  loginOfKv,
  pathInMount,
} from "./rules/item-of-kv.ts";
import { growingList, ProviderFailed, type Store, type StoredItem } from "./store.ts";
import { connections, openVaultReads, type VaultReads, type VaultServer } from "./vault-reads.ts";

type VaultPlace = VaultServer & KvPlace;

/** Entries and folders that are looked at in one store: each is a request. */
const mostReads = 2000;

const withStore = async <T>(place: VaultPlace, work: (read: VaultReads["read"]) => Promise<T>): Promise<T> => {
  const reads = openVaultReads(place);
  try {
    return await work(reads.read);
  } finally {
    await reads.close();
  }
};

/** Without this, a mount of another kind would look like an empty one. */
const requireKv2 = async ({ mount }: KvPlace, read: VaultReads["read"]): Promise<void> => {
  const { data } = (await read(`sys/internal/ui/mounts/${encodedPath(mount)}`, KvMount)) ?? {};
  if (!(data?.type === "kv" && data.options?.version === "2" && data.path === `${mount}/`))
    throw new ProviderFailed("credential_provider_refused", "the mount is no key-value store of version 2");
};

/** The names in a folder, which is empty or ends with a slash. */
const readFolder = async (folder: string, { mount }: KvPlace, read: VaultReads["read"]): Promise<string[]> => {
  const found = await read(`${encodedPath(mount)}/metadata/${encodedPath(folder)}?list=true`, KvKeys);
  return (found?.data.keys ?? []).filter((key) => isKvPath(key.replace(/\/$/, ""))).map((key) => folder + key);
};

const readItem = async (path: string, { mount }: KvPlace, read: VaultReads["read"]): Promise<ProviderItem[]> => {
  const found = await read(`${encodedPath(mount)}/metadata/${encodedPath(path)}`, KvMetadata);
  const item = found && hasValues(found, Date.now()) && itemOfKv(path, mount, found.data.custom_metadata);
  return item ? [item] : [];
};

const firstFolder = ({ pathPrefix }: KvPlace): string => (pathPrefix === "" ? "" : `${pathPrefix}/`);

/** Folders are read as entries are, some at a time. */
const listEntries = (place: VaultPlace): Promise<ProviderItem[]> =>
  withStore(place, async (read) => {
    await requireKv2(place, read);
    const list = growingList();
    const waiting = [firstFolder(place)];
    for (let seen = 0; waiting.length > 0; ) {
      const paths = waiting.splice(0, connections);
      seen += paths.length;
      if (seen + waiting.length > mostReads)
        throw new ProviderFailed(
          "credential_provider_unavailable",
          `the store has more than ${mostReads} entries and folders; narrow path_prefix`,
        );
      const found = await Promise.all(
        paths.map(async (path) => {
          if (path !== "" && !path.endsWith("/")) return readItem(path, place, read);
          waiting.push(...(await readFolder(path, place, read)));
          return [];
        }),
      );
      list.add(found.flat());
    }
    return list.items;
  });

/** Its addresses and its values are of one answer. */
const readEntry = (place: VaultPlace, path: string): Promise<StoredItem> =>
  withStore(place, async (read) => {
    const inMount = pathInMount(path, place);
    if (inMount === undefined)
      throw new ProviderFailed("external_credential_not_found", "the path is none of the provider");
    const found = await read(`${encodedPath(place.mount)}/data/${encodedPath(inMount)}`, KvData);
    const { data, metadata } = found?.data ?? {};
    const item = data && itemOfKv(inMount, place.mount, metadata?.custom_metadata);
    if (!item) throw new ProviderFailed("external_credential_not_found", "the provider has no such item");
    const login = loginOfKv(data);
    if (!login)
      throw new ProviderFailed("external_credential_unusable", "the item has no value, or one that is no text");
    return { item, login };
  });

/** The entries below a prefix of a mount. */
export const openVaultStore = (place: VaultPlace): Store => ({
  place: place.mount,
  list: () => listEntries(place),
  read: (path) => readEntry(place, path),
  tryList: () =>
    withStore(place, async (read) => {
      await requireKv2(place, read);
      await readFolder(firstFolder(place), place, read);
    }),
});
