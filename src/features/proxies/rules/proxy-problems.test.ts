import { describe, expect, test } from "vitest";
import { joinPath } from "../../../platform/kinds/wire.ts";
import { ProxySpec } from "../proxy.ts";
import { loginProblem, proxyProblems } from "./proxy-problems.ts";

/** The places of all problems, those of the schema among them. */
const badPlaces = (spec: object): string[] => {
  const { data, error } = ProxySpec.safeParse(spec);
  if (error) return error.issues.map(({ path }) => joinPath(path as string[]));
  return proxyProblems(data).map(({ path }) => joinPath(path));
};

const custom = { type: "custom", custom: { host: "proxy.example", port: 3128 } };

describe("a proxy may have", () => {
  // PROXY-3, PROXY-4, PROXY-5, PROXY-6, PROXY-7, PROXY-8
  test.each<[string, object]>([
    ["a type alone", { type: "datacenter" }],
    ["any country of ISO 3166 in a datacenter", { type: "datacenter", datacenter: { country: "BQ" } }],
    ["the last of the ISP countries", { type: "isp", isp: { country: "KR" } }],
    ["a city with its country", { type: "residential", residential: { city: "sanfrancisco", country: "US" } }],
    ["a city in its own letters", { type: "residential", residential: { city: "Saint-Denis", country: "FR" } }],
    ["a state without a country", { type: "residential", residential: { state: "CA" } }],
    ["a state of another country", { type: "residential", residential: { state: "ON", country: "CA" } }],
    ["a ZIP code", { type: "residential", residential: { zip: "94103" } }],
    ["a long ZIP code", { type: "residential", residential: { zip: "94103-1234", country: "US" } }],
    ["the first AS number", { type: "residential", residential: { asn: "1" } }],
    ["the last AS number", { type: "residential", residential: { asn: "AS4294967295" } }],
    ["an operating system", { type: "residential", residential: { os: "windows" } }],
    ["a city alone", { type: "mobile", mobile: { city: "berlin" } }],
    ["a state of the US", { type: "mobile", mobile: { state: "PR", country: "US" } }],
    ["a state without a country there", { type: "mobile", mobile: { state: "WY" } }],
    ["an IPv4 host", { ...custom, custom: { host: "203.0.113.7", port: 1 } }],
    ["an IPv6 host", { ...custom, custom: { host: "2001:db8::7", port: 65535 } }],
    ["an IPv6 host in brackets", { ...custom, custom: { host: "[2001:db8::7]", port: 1 } }],
    ["a long username", { ...custom, custom: { ...custom.custom, username: "ü".repeat(4096) } }],
    ["hosts that bypass it", { ...custom, bypassHosts: ["*.example.com", "10.0.0.1", "example.com:8443"] }],
    ["a free name", { ...custom, name: "Büro Köln (2)" }],
  ])("%s", (_what, spec) => expect(badPlaces(spec)).toEqual([]));
});

describe("a proxy may not have", () => {
  // PROXY-3, PROXY-5, PROXY-6, PROXY-7, PROXY-8
  test.each<[string, object, string]>([
    ["no type", {}, "type"],
    ["another type", { type: "tor" }, "type"],
    ["another protocol", { type: "isp", protocol: "socks5" }, "protocol"],
    ["an empty name", { type: "isp", name: "" }, "name"],
    ["a name of 256 characters", { type: "isp", name: "a".repeat(256) }, "name"],
    ["spaces around its name", { type: "isp", name: " a" }, "name"],
    ["a country that is none", { type: "datacenter", datacenter: { country: "XX" } }, "datacenter.country"],
    ["a former code", { type: "datacenter", datacenter: { country: "UK" } }, "datacenter.country"],
    ["a country of three letters", { type: "datacenter", datacenter: { country: "USA" } }, "datacenter.country"],
    ["an ISP in another country", { type: "isp", isp: { country: "NL" } }, "isp.country"],
    ["a city without a country", { type: "residential", residential: { city: "paris" } }, "residential.city"],
    ["spaces in a city", { type: "residential", residential: { city: "san jose", country: "US" } }, "residential.city"],
    [
      "a city that no provider could spell",
      { type: "residential", residential: { city: "東京", country: "JP" } },
      "residential.city",
    ],
    ["a state of three letters", { type: "residential", residential: { state: "CAL" } }, "residential.state"],
    ["a short ZIP code", { type: "residential", residential: { zip: "9410" } }, "residential.zip"],
    ["a ZIP code elsewhere", { type: "residential", residential: { zip: "94103", country: "FR" } }, "residential.zip"],
    ["the AS number 0", { type: "residential", residential: { asn: "AS0" } }, "residential.asn"],
    ["an AS number of 33 bits", { type: "residential", residential: { asn: "4294967296" } }, "residential.asn"],
    ["an AS number with dots", { type: "residential", residential: { asn: "1.10" } }, "residential.asn"],
    ["another operating system", { type: "residential", residential: { os: "ios" } }, "residential.os"],
    ["a state of another country", { type: "mobile", mobile: { state: "ON", country: "CA" } }, "mobile.state"],
    ["a state that the US does not have", { type: "mobile", mobile: { state: "ON" } }, "mobile.state"],
    ["the port 0", { ...custom, custom: { host: "a", port: 0 } }, "custom.port"],
    ["the port 65536", { ...custom, custom: { host: "a", port: 65_536 } }, "custom.port"],
    ["a port in its host", { ...custom, custom: { host: "a:1", port: 1 } }, "custom.host"],
    ["a scheme in its host", { ...custom, custom: { host: "http://a", port: 1 } }, "custom.host"],
    ["a path in its host", { ...custom, custom: { host: "a/b", port: 1 } }, "custom.host"],
    ["many hosts", { ...custom, custom: { host: "*.example", port: 1 } }, "custom.host"],
    ["a line break in its host", { ...custom, custom: { host: "a\r\nb", port: 1 } }, "custom.host"],
    ["an address that only some programs read", { ...custom, custom: { host: "0x7f.1", port: 1 } }, "custom.host"],
    [
      "a username of 4097 characters",
      { ...custom, custom: { host: "a", port: 1, username: "u".repeat(4097) } },
      "custom.username",
    ],
    [
      "a header in its username",
      { ...custom, custom: { host: "a", port: 1, username: "u\r\nX: y" } },
      "custom.username",
    ],
    ["a colon in its username", { ...custom, custom: { host: "a", port: 1, username: "u:p" } }, "custom.username"],
    ["a range that bypasses it", { ...custom, bypassHosts: ["a.example", "10.0.0.0/8"] }, "bypassHosts[1]"],
  ])("%s", (_what, spec, place) => expect(badPlaces(spec)).toEqual([place]));
});

test("a login has no control characters", () => {
  for (const text of ["a\u0000", "a\n", "a\u007f"]) expect(loginProblem(text)).toContain("control");
  expect(loginProblem("pässwörd :@/")).toBeUndefined();
});
