import { expect, test } from "vitest";
import { changedLocation, Location, locationProblems, startLocation } from "./location.ts";

// BROWSER-35
test.each([
  ["de-AT", true],
  ["zh-Hant-TW", true],
  ["es-419", true],
  ["no", true],
  // Chromium formats these as if nothing was given.
  ["cy-GB", false],
  ["ff", false],
  // Other ways to write he, my-MM and sr-RS.
  ["iw", false],
  ["en-BU", false],
  ["sr-YU", false],
  ["de-at", false],
  ["de_AT", false],
  ["de-AT-u-ca-buddhist", false],
  ["", false],
])("%s is a locale: %s", (locale, expected) => {
  const { success } = Location.safeParse({ locale });
  expect(success && locationProblems({ locale }).length === 0).toBe(expected);
});

// BROWSER-34
test.each([
  [{ locale: "de-AT" }, { timezone: "Asia/Tokyo" }, { locale: "de-AT", timezone: "Asia/Tokyo" }],
  [{ locale: "de-AT", timezone: "Asia/Tokyo" }, { locale: null }, { timezone: "Asia/Tokyo" }],
  [{ locale: "de-AT" }, { locale: "fr" }, { locale: "fr" }],
  [undefined, { locale: null }, {}],
])("%j with %j is %j", (present, change, after) => {
  expect(changedLocation(present, change)).toEqual(after);
});

// BROWSER-35
test("a time zone that there is not breaks nothing but its own browser", () => {
  expect(startLocation({ timezone: "Europe/Atlantis" })).toEqual({ locale: "en-US", timezone: "Europe/Atlantis" });
  expect(locationProblems({ timezone: "Europe/Atlantis" })).toEqual([
    { path: ["location", "timezone"], message: "is no time zone of the IANA database" },
  ]);
});
