import { expect, test } from "vitest";
import { isTimeZone, timeZoneOf } from "./time-zone.ts";

test.each([
  ["Europe/Berlin", true],
  ["europe/berlin", true],
  ["UTC", true],
  ["Etc/GMT+5", true],
  ["Europe/Atlantis", false],
  ["+02:00", false],
  ["", false],
])("%s is the name of a time zone: %s", (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

test("programs get the name in the database's case", () => {
  expect(timeZoneOf("eUROPE/bERLIN")).toBe("Europe/Berlin");
});
