import { expect, test } from "vitest";
import { neededValues, parseTemplate, renderTemplate, valuesOf } from "./username-template.ts";

const names = ["country", "city", "session"];
const template = parseTemplate("user-x[-cc-{country}][-{country}.{city}]-s-{session}", names);

test.each<[object, string | undefined]>([
  [{ session: "1" }, "user-x-s-1"],
  [{ session: "1", country: "us" }, "user-x-cc-us-s-1"],
  [{ session: "1", city: "rome" }, "user-x-s-1"],
  [{ session: "1", country: "it", city: "rome" }, "user-x-cc-it-it.rome-s-1"],
  [{ country: "it" }, undefined],
  [{ session: "{city}[x]" }, "user-x-s-{city}[x]"],
])("%j gives %s", (values, text) => expect(renderTemplate(template, { ...values })).toBe(text));

test("a template tells which values it uses, and which it needs", () => {
  expect([...valuesOf(template)]).toEqual(["country", "city", "session"]);
  expect([...neededValues(template)]).toEqual(["session"]);
});

test.each([
  ["a-{contry}", "{contry} is none of {country} {city} {session}"],
  ["a-{}", "{} is none of"],
  ["a[-{country}", "don't match"],
  ["a[b[{city}]]", "don't match"],
  ["a-{country", "don't match"],
])("%s is refused", (text, message) => expect(() => parseTemplate(text, names)).toThrow(message));
