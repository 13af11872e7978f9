/** A Secret of a store → an item, and its login (PROVIDER-5 to PROVIDER-7); pure. */
import { z } from "zod";
import { Sensitive } from "../../../../platform/base/sensitive.ts";
import { type Login, shapeOf } from "../../connections/rules/change-login.ts";
import { isFieldName, maxValues, totpEntry, totpField } from "../../credentials/credential.ts";
import { normalizeTotpSecret } from "../../logins/rules/totp.ts";
import type { ProviderItem } from "../provider.ts";

/** The annotation with the addresses that a login is for, with blanks or commas between them; without it a Secret is no item. */
const urlsAnnotation = "browserpool.dev/urls";

/** The annotation with the name of an item for people. */
const titleAnnotation = "browserpool.dev/title";

/** Of one item. */
const mostUrls = 20;
const longestUrl = 2048;
const longestTitle = 255;
const longestValue = 4096;

const text = z.string().catch("");

/** What is read of a Secret's metadata, whatever else there is. */
const ItemMetadata = z.object({
  name: z.string().min(1),
  uid: z.string().min(1),
  annotations: z
    .object({ [urlsAnnotation]: text, [titleAnnotation]: text })
    .partial()
    .nullish()
    .catch(undefined),
});

/** What is read of a Secret itself. */
export const ItemSecret = z.object({
  metadata: ItemMetadata,
  type: z.string().default("Opaque"),
  data: z.record(z.string(), z.string()).nullish(),
});

/** Other Secrets have another purpose, such as tokens of the cluster. */
const readableTypes = ["Opaque", "kubernetes.io/basic-auth"];

const urlsIn = (list: string): string[] =>
  list
    .split(/[\s,]+/)
    .filter((each) => each.length <= longestUrl && ["https:", "http:"].includes(URL.parse(each)?.protocol ?? ""))
    .slice(0, mostUrls);

/** The item that a Secret is; undefined when it says no address. */
export const itemOf = (metadata: unknown, namespace: string): ProviderItem | undefined => {
  const { name, uid, annotations } = ItemMetadata.safeParse(metadata).data ?? {};
  const urls = urlsIn(annotations?.[urlsAnnotation] ?? "");
  if (name === undefined || uid === undefined || urls.length === 0) return undefined;
  const title = annotations?.[titleAnnotation]?.trim().slice(0, longestTitle).toWellFormed() || name;
  return { id: uid, path: `${namespace}/${name}`, title, vault_id: namespace, vault_name: namespace, urls };
};

/** The origins of an item's addresses, in the form of browsers. */
export const originsOf = ({ urls }: Pick<ProviderItem, "urls">): string[] => [
  ...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? [])),
];

/** The text of an entry; undefined for bytes that are none, or that no field of a page takes. */
const textOf = (stored: string): string | undefined => {
  try {
    const value = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(stored, "base64"));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no value has
    return value.length <= longestValue && !/[\u0000-\u001f\u007f]/.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** A seed as it stands, or in the address that authenticator apps read; undefined when it gives no codes of ours. */
const seedOf = (value: string): string | undefined => {
  const url = /^otpauth:\/\/totp\//i.test(value) ? URL.parse(value) : undefined;
  if (!url) return normalizeTotpSecret(value);
  const { searchParams: given } = url;
  const isUsual = [
    ["algorithm", "SHA1"],
    ["digits", "6"],
    ["period", "30"],
  ].every(([name = "", usual]) => (given.get(name) ?? usual)?.toUpperCase() === usual);
  return isUsual ? normalizeTotpSecret(given.get("secret") ?? "") : undefined;
};

/**
 * The login in a Secret: an entry for each value; `totp` or `totp_secret` is the seed of codes, and none if it gives no codes.
 * Undefined when it has no value, or one that cannot be typed.
 */
export const loginOf = ({ type, data }: z.infer<typeof ItemSecret>): Login | undefined => {
  const entries = Object.entries(data ?? {});
  if (!readableTypes.includes(type) || entries.length > maxValues) return undefined;
  const values = new Map<string, Sensitive>();
  let totpSecret: Sensitive | undefined;
  for (const [name, stored] of entries) {
    const value = textOf(stored);
    if (value === undefined) return undefined;
    const seed = name === totpField || name === totpEntry ? seedOf(value) : undefined;
    if (seed !== undefined) totpSecret = new Sensitive(seed);
    if (isFieldName(name)) values.set(name, new Sensitive(value));
  }
  const login = { values, totpSecret };
  return shapeOf(login).valueNames.length > 0 ? login : undefined;
};
