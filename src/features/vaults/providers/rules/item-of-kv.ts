/** An entry of Vault's key-value store, version 2 → an item, and its login (PROVIDER-13, PROVIDER-14); pure. */
import { z } from "zod";
import type { Login } from "../../connections/rules/change-login.ts";
import type { ProviderItem } from "../provider.ts";
import { loginOfEntries, titleOf, urlsIn } from "./item.ts";

/** Where a provider reads. `pathPrefix`: empty for the whole mount. */
export type KvPlace = { mount: string; pathPrefix: string };

const text = z.string().catch("");

/** The custom metadata of an entry: the addresses that the login is for, and its name for people. */
const CustomMetadata = z.object({ urls: text, title: text }).partial().nullish().catch(undefined);

const Version = z.object({ deletion_time: text, destroyed: z.boolean().catch(false) }).partial();

/** What is read of the answer to `metadata/`. */
export const KvMetadata = z.object({
  data: z.object({
    custom_metadata: CustomMetadata,
    current_version: z.int().catch(0),
    versions: z.record(z.string(), Version).nullish().catch(undefined),
  }),
});

/** What is read of the answer to `data/`. */
export const KvData = z.object({
  data: z.object({
    data: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.object({ custom_metadata: CustomMetadata }),
  }),
});

/** The names in a folder; those of folders end with a slash. */
export const KvKeys = z.object({ data: z.object({ keys: z.array(z.string()) }) });

/** What is read of a mount. */
export const KvMount = z.object({
  data: z.object({
    type: z.string(),
    path: z.string(),
    options: z.object({ version: text }).nullish().catch(undefined),
  }),
});

/** Whether every part of a path below a mount is a name, and none leads elsewhere. */
export const isKvPath = (path: string): boolean =>
  path.split("/").every((part) => part !== "" && part !== "." && part !== "..") && !/\p{Cc}/u.test(path);

/** A path below a mount as it stands in a request. */
export const encodedPath = (path: string): string => path.toWellFormed().split("/").map(encodeURIComponent).join("/");

/** The path below the mount that a connection's path means; undefined for one that is not the provider's. */
export const pathInMount = (path: string, { mount, pathPrefix }: KvPlace): string | undefined => {
  const inMount = path.startsWith(`${mount}/`) ? path.slice(mount.length + 1) : undefined;
  if (inMount === undefined || !isKvPath(inMount)) return undefined;
  return pathPrefix === "" || inMount.startsWith(`${pathPrefix}/`) ? inMount : undefined;
};

/** The item that an entry is by its custom metadata; undefined when this says no address. */
export const itemOfKv = (
  path: string,
  mount: string,
  custom: z.infer<typeof CustomMetadata>,
): ProviderItem | undefined => {
  const urls = urlsIn(custom?.urls ?? "");
  if (urls.length === 0) return undefined;
  const whole = `${mount}/${path}`;
  const title = titleOf(custom?.title, path.slice(path.lastIndexOf("/") + 1));
  return { id: whole, path: whole, title, vault_id: mount, vault_name: mount, urls };
};

/** Whether the newest version of an entry can be read. `nowMs`: since the epoch. */
export const hasValues = ({ data: { current_version, versions } }: z.infer<typeof KvMetadata>, nowMs: number) => {
  const newest = versions?.[String(current_version)];
  return newest !== undefined && !newest.destroyed && !(Date.parse(newest.deletion_time ?? "") <= nowMs);
};

/** The login in an entry; undefined when it has no value, or one that cannot be typed. */
export const loginOfKv = (data: Record<string, unknown>): Login | undefined =>
  loginOfEntries(Object.entries(data).map(([name, value]) => [name, typeof value === "string" ? value : undefined]));
