/**
 * Where a browser seems to be: the locale and the time zone that its pages see. They hold for one session (BROWSER-33
 * to BROWSER-36).
 */
import { z } from "zod";
import { withoutUndefined } from "../../../platform/rules/given-fields.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { isTimeZone, timeZoneOf } from "./time-zone.ts";

/** What a browser has for which nothing is given: that of the image. */
const defaults = { locale: "en-US", timezone: "UTC" } as const;

/** The languages that Debian's Chromium formats numbers and dates in; a test reads them from it. */
export const languages =
  `af ak am ar az bg bn bs ca cs da de el en es et fa fi fil fr gu he hi hr hu id it ja kn ko kok lt lv
   ml mr ms nb nl no pa pl pt ro ru sd sk sl sr sv sw ta te th tr uk ur uz vi zh`.split(/\s+/);

/** A language, its script and its region, as BCP 47 has them; no further subtags. */
const localePattern = new RegExp(`^(${languages.join("|")})(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$`);

const locale = z
  .string()
  .max(16)
  .regex(localePattern, "must be a canonical BCP 47 locale of a language that Chromium formats in, such as de-AT")
  .describe(
    "The canonical BCP 47 locale that pages format numbers and dates in, and ask sites for: `de-AT`. Left out: en-US.",
  );

const timezone = z
  .string()
  .min(1)
  .max(64)
  .describe("The time zone of pages, by its IANA name: `Europe/Vienna`. Left out: UTC.");

/** In a spec. */
export const Location = z
  .object({ locale: locale.optional(), timezone: timezone.optional() })
  .describe("The locale and the time zone that pages see. Left out: those of the image.");
export type Location = z.infer<typeof Location>;

/** In a change: null gives the default back. */
export const LocationChange = z
  .object({ locale: locale.nullable().optional(), timezone: timezone.nullable().optional() })
  .describe(
    "The locale and the time zone that pages see; null gives the default back. Chromium starts anew, as for a profile.",
  );
export type LocationChange = z.infer<typeof LocationChange>;

/** `present` with a change. */
export const changedLocation = (present: Location | undefined, { locale, timezone }: LocationChange): Location =>
  withoutUndefined({
    locale: locale === undefined ? present?.locale : (locale ?? undefined),
    timezone: timezone === undefined ? present?.timezone : (timezone ?? undefined),
  });

/** What a browser is started with by these settings. */
export const startLocation = ({
  locale = defaults.locale,
  timezone = defaults.timezone,
}: Location): { locale: string; timezone: string } => ({
  locale,
  // By YAML it may be none: the browser is refused for it, and is not started.
  timezone: timeZoneOf(timezone) ?? timezone,
});

const source = z.enum(["override", "default"]).describe("override: by a request or a spec.");

/** In the answer about a session. */
export const LocationAnswer = z.object({
  locale: z.string().describe("The locale that pages see."),
  locale_source: source,
  timezone: z.string().describe("The time zone that pages see."),
  timezone_source: source,
});

const sourceOf = (given: string | undefined): z.infer<typeof source> => (given === undefined ? "default" : "override");

/** The settings of a session as answers show them. */
export const locationAnswer = (location: Location): z.infer<typeof LocationAnswer> => ({
  ...defaults,
  ...withoutUndefined(location),
  locale_source: sourceOf(location.locale),
  timezone_source: sourceOf(location.timezone),
});

/** What the schema can't say, of a spec or a change. */
export const locationProblems = (location: LocationChange | undefined): SpecProblem[] => {
  const { locale, timezone } = location ?? {};
  return [
    ...(locale && Intl.getCanonicalLocales(locale)[0] !== locale
      ? [problemAt(["location", "locale"], `is written ${Intl.getCanonicalLocales(locale)[0]}`)]
      : []),
    ...(timezone && !isTimeZone(timezone)
      ? [problemAt(["location", "timezone"], "is no time zone of the IANA database")]
      : []),
  ];
};
