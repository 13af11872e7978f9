/**
 * The locale and the time zone of a Chromium, as settings of its process: they hold in every page, frame and worker from
 * the first moment on, and a client's own emulation over CDP goes before them.
 *
 * The headless shell takes its locale from the environment. The full browser does so only for a locale whose texts it
 * has a file of, and Debian packs English ones alone. So it finds its file of English texts under the locale's name, too,
 * in a folder that this agent makes: pages have the locale, and the browser's own menus are English.
 */
import { copyFile, link, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentLocation } from "../protocol/agent-api.ts";
import type { AgentConfig } from "./agent-config.ts";

/** Of glibc and ICU: `de_AT`. */
const posixName = (locale: string): string => locale.replaceAll("-", "_");

/** What Chromium's environment has for a location. */
export const locationEnv = ({ locale, timezone }: AgentLocation): Record<string, string> => ({
  TZ: timezone,
  LANG: `${posixName(locale)}.UTF-8`,
  LC_ALL: `${posixName(locale)}.UTF-8`,
  LANGUAGE: posixName(locale),
});

/** The languages that pages see and sites are asked for: the locale, then its language. */
export const languageFlags = ({ locale }: AgentLocation): string[] => [
  `--accept-lang=${[...new Set([locale, locale.split("-")[0]])].join(",")}`,
];

/** The name of the only texts that Debian's Chromium has. */
const english = "en-US";

const packOf = (folder: string, locale: string): string => join(folder, `${locale}.pak`);

/** A folder that a program sees at another place. */
export type ShownFolder = { made: string; shownAt: string };

/**
 * Makes the folder of locales. Returns it, and the folder in whose place Chromium must be shown it; undefined where it
 * is there already, or where Chromium's own will do. Throws where it can get none.
 */
export const placeLocales = async (
  locale: string | undefined,
  { localesDir, localePack, ownPorts }: Pick<AgentConfig, "localesDir" | "localePack" | "ownPorts">,
  folder: string,
): Promise<ShownFolder | undefined> => {
  const needsOne = locale !== undefined && locale !== english;
  if (!needsOne && localesDir === undefined) return undefined;
  // The API accepts none there (BROWSERPOOL_BROWSER_FEATURES).
  if (localePack === undefined || (localesDir === undefined && ownPorts === undefined))
    throw new Error("there is no folder of locales for this browser");
  const made = localesDir ?? join(folder, "locales");
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true, mode: 0o700 });
  await copyFile(localePack, packOf(made, english));
  if (needsOne) await link(packOf(made, english), packOf(made, locale));
  return localesDir === undefined ? { made, shownAt: dirname(localePack) } : undefined;
};
