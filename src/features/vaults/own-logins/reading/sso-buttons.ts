/** The buttons of a login page that lead to single sign-on, and the names of their providers; pure. */
import type { SeenFrame } from "../../fill/page-survey.ts";
import { loginRules } from "./login-rules.ts";
import type { Pressable } from "./read-login-page.ts";

/** `provider`: as `submit` and credentials name it, e.g. google. */
export type SsoButton = Pressable & { provider: string };

/** Those of a page that are looked at, and the longest text of one. */
const mostButtons = 20;
const longestText = 80;

const { before, after, isOther, providers } = loginRules.sso;

const nameOf = (text: string): string | undefined => {
  const start = before.find((pattern) => pattern.test(text));
  if (!start) return undefined;
  const said = text.replace(start, "");
  return (after.reduce((rest, pattern) => rest.replace(pattern, ""), said) || undefined)?.trim();
};

/** A name that says the same in any language, for a provider that no rule knows. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64);

/** The provider that a button leads to by its text; undefined when it is no such button. */
export const ssoProviderOf = (text: string): string | undefined => {
  if (text.length > longestText || isOther(text)) return undefined;
  const known = providers.find(({ fits }) => fits(text))?.name;
  const name = nameOf(text);
  if (name !== undefined) return known ?? (slugOf(name) || undefined);
  // Some show the name alone, next to a picture; a sentence with one may be anything.
  return known !== undefined && slugOf(text) === known ? known : undefined;
};

/** Those in frames that may be filled: another page could lead anywhere. */
export const ssoButtonsOf = (frames: readonly SeenFrame[], isAllowed: (origin: string) => boolean): SsoButton[] =>
  frames
    .flatMap(({ pressables, origin }, frame) =>
      pressables.flatMap(({ kind, text, isDisabled }, index): SsoButton[] => {
        if (isDisabled || kind === "radio" || kind === "checkbox" || !isAllowed(origin)) return [];
        const provider = ssoProviderOf(text);
        return provider === undefined ? [] : [{ place: { frame, index }, kind, text, provider }];
      }),
    )
    .slice(0, mostButtons);

const quoted = (text: string): string => {
  if (!text.includes('"')) return `"${text}"`;
  return text.includes("'")
    ? `concat(${text
        .split('"')
        .map((part) => `"${part}"`)
        .join(",'\"',")})`
    : `'${text}'`;
};

/** An XPath of a button by its text. */
export const xpathOf = ({ text }: Pick<SsoButton, "text">): string => `//*[normalize-space()=${quoted(text)}]`;
