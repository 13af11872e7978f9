/** What items of every kind of store have in common (PROVIDER-5 to PROVIDER-7); pure. */
import { Sensitive } from "../../../../platform/base/sensitive.ts";
import { type Login, shapeOf } from "../../connections/rules/change-login.ts";
import { isFieldName, maxValues, totpEntry, totpField } from "../../credentials/credential.ts";
import { normalizeTotpSecret } from "../../logins/rules/totp.ts";
import type { ProviderItem } from "../provider.ts";

/** Of one item. */
const mostUrls = 20;
const longestUrl = 2048;
const longestTitle = 255;
const longestValue = 4096;

/** The addresses in a text, with blanks or commas between them; what is no http or https address does not count. */
export const urlsIn = (list: string): string[] =>
  list
    .split(/[\s,]+/)
    .filter((each) => each.length <= longestUrl && ["https:", "http:"].includes(URL.parse(each)?.protocol ?? ""))
    .slice(0, mostUrls);

/** What people call an item: its title, else its name. */
export const titleOf = (title: string | undefined, name: string): string =>
  title?.trim().slice(0, longestTitle).toWellFormed() || name;

/** The origins of an item's addresses, in the form of browsers. */
export const originsOf = ({ urls }: Pick<ProviderItem, "urls">): string[] => [
  ...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? [])),
];

/** Whether a field of a page takes this text. */
const isTypable = (value: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no value has
  value.length <= longestValue && !/[\u0000-\u001f\u007f]/.test(value);

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
 * The login in the entries of an item: an entry for each value, undefined for what is no text; `totp` or `totp_secret` is the seed of
 * codes, and none if it gives no codes. Undefined when it has no value, or one that cannot be typed.
 */
export const loginOfEntries = (entries: [name: string, value: string | undefined][]): Login | undefined => {
  if (entries.length > maxValues) return undefined;
  const values = new Map<string, Sensitive>();
  let totpSecret: Sensitive | undefined;
  for (const [name, value] of entries) {
    if (value === undefined || !isTypable(value)) return undefined;
    const seed = name === totpField || name === totpEntry ? seedOf(value) : undefined;
    if (seed !== undefined) totpSecret = new Sensitive(seed);
    if (isFieldName(name)) values.set(name, new Sensitive(value));
  }
  const login = { values, totpSecret };
  return shapeOf(login).valueNames.length > 0 ? login : undefined;
};
