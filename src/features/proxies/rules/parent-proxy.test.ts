import { describe, expect, test } from "vitest";
import { ParentProxy } from "../../../core/protocol/browser-setup.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import { joinPath } from "../../../platform/kinds/wire.ts";
import { ProxySpec, type WebProxy } from "../proxy.ts";
import { parentProxyOf } from "./parent-proxy.ts";
import { gatewayOf, ProviderFile, type ProxyProvider, unsupportedSettings } from "./proxy-provider.ts";

const proxy = (spec: object): WebProxy => ({
  metadata: { name: "px1", namespace: "p", uid: "u", resourceVersion: "1" },
  spec: ProxySpec.parse(spec),
});

const file = ProviderFile.parse({
  residential: {
    host: "gate.provider.example",
    port: 7000,
    protocol: "http",
    username: "acme[-cc-{country}][-st-{STATE}][-city-{city}][-asn-{asn}][-zip-{zip}]-s-{session}",
  },
  mobile: { host: "mobile.provider.example", port: 7001, username: "acme-{COUNTRY}[-{state}]-{session}" },
  isp: { host: "isp.provider.example", port: 7002, country: "US", username: "acme" },
});
const password = new Sensitive("pr0vider");
const provider: ProxyProvider = {
  ...(file.residential && { residential: gatewayOf(file.residential, { password }) }),
  ...(file.mobile && { mobile: gatewayOf(file.mobile, { password, caBundle: "PEM" }) }),
  ...(file.isp && { isp: gatewayOf(file.isp, {}) }),
};

const usernameOf = (spec: object, session = "Pod-1_a"): string | undefined =>
  parentProxyOf(proxy(spec), {}, provider, session)?.username;
const unsupported = (spec: object): string[] =>
  unsupportedSettings(ProxySpec.parse(spec), provider).map(({ path, message }) => `${joinPath(path)}: ${message}`);

describe("a custom proxy", () => {
  // PROXY-8
  test("is its own host with its own secrets", () => {
    const custom = { host: "proxy.example", port: 3128, username: "ann" };
    const bypassHosts = ["*.corp.example"];
    const parent = parentProxyOf(
      proxy({ type: "custom", custom, bypassHosts }),
      { password: new Sensitive("pw"), caBundle: "PEM" },
      {},
      "s",
    );
    expect(parent).toEqual({
      id: "px1",
      protocol: "https",
      ...custom,
      password: "pw",
      ca_bundle: "PEM",
      bypass_hosts: bypassHosts,
    });
    expect(ParentProxy.parse(parent)).toEqual(parent);
  });

  test("may have no login, and plain HTTP", () => {
    const spec = { type: "custom", protocol: "http", custom: { host: "203.0.113.7", port: 1 } };
    expect(parentProxyOf(proxy(spec), {}, {}, "s")).toEqual({
      id: "px1",
      protocol: "http",
      host: "203.0.113.7",
      port: 1,
      bypass_hosts: [],
    });
  });
});

describe("a managed proxy", () => {
  // PROXY-13
  test("is the provider's gateway, told by the username what is wanted", () => {
    expect(parentProxyOf(proxy({ type: "residential" }), {}, provider, "Pod-1_a")).toEqual({
      id: "px1",
      protocol: "http",
      host: "gate.provider.example",
      port: 7000,
      username: "acme-s-Pod1a",
      password: "pr0vider",
      bypass_hosts: [],
    });
    expect(parentProxyOf(proxy({ type: "mobile", mobile: { country: "DE" } }), {}, provider, "s")).toMatchObject({
      protocol: "https",
      username: "acme-DE-s",
      ca_bundle: "PEM",
    });
  });

  // PROXY-13
  test.each<[object, string]>([
    [
      { country: "US", state: "CA", city: "San-Francisco", asn: "AS7922" },
      "acme-cc-us-st-CA-city-sanfrancisco-asn-7922-s-1",
    ],
    [{ country: "FR", city: "Évry" }, "acme-cc-fr-city-evry-s-1"],
    [{ zip: "94103-1234" }, "acme-cc-us-zip-94103-s-1"],
    [{ os: "windows" }, "acme-s-1"],
    [{ country: "GB", city: "x-asn-1-s-2" }, "acme-cc-gb-city-xasn1s2-s-1"],
  ])("residential %j gives %s", (residential, username) =>
    expect(usernameOf({ type: "residential", residential }, "1")).toBe(username),
  );

  test("of a state of the US is in the US", () => {
    expect(usernameOf({ type: "mobile", mobile: { state: "NY" } }, "1")).toBe("acme-US-ny-1");
  });

  // PROXY-14, HTTP-30
  test.each<[object, string]>([
    [
      { type: "datacenter" },
      "type: this installation has no provider of datacenter proxies; it has proxies of the type isp, residential, mobile, custom",
    ],
    [{ type: "residential", protocol: "https" }, "protocol: browsers reach residential proxies by http here"],
    [
      { type: "mobile", mobile: { country: "US", city: "x" } },
      "mobile.city: the provider of this installation can't select mobile proxies by it",
    ],
    [{ type: "mobile" }, "mobile.country: the provider of this installation needs it for mobile proxies"],
    [{ type: "isp", isp: { country: "FR" } }, "isp.country: the provider of this installation can't select isp"],
  ])("that the provider can't carry out is none: %j", (spec, message) => {
    expect(unsupported(spec)).toEqual([expect.stringContaining(message)]);
    expect(parentProxyOf(proxy(spec), {}, provider, "s")).toBeUndefined();
  });

  test("of the one country that its gateway has needs no country in the username", () => {
    expect(unsupported({ type: "isp" })).toEqual([]);
    expect(usernameOf({ type: "isp", isp: { country: "US" } })).toBe("acme");
  });
});

test.each<[object, string]>([
  [{ residential: { host: "a b", port: 1 } }, "residential.host"],
  [{ residential: { host: "a", port: 0 } }, "residential.port"],
  [{ residential: { host: "a", port: 1, username: "{town}" } }, "residential.username"],
  [{ residential: { host: "a", port: 1, country: "us" } }, "residential.country"],
  [{ custom: { host: "a", port: 1 } }, ""],
  [{ residential: { host: "a", port: 1, password: "secret" } }, "residential"],
])("a provider's file with %j is refused", (given, path) => {
  expect(ProviderFile.safeParse(given).error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
});

// PROXY-22
test.each(["127.0.0.1", "localhost", "::1", "app.localhost"])("a proxy at %s is for local mode alone", (host) => {
  const spec = ProxySpec.parse({ type: "custom", custom: { host, port: 3128 } });
  expect(unsupportedSettings(spec, {})).toMatchObject([
    { path: ["custom", "host"], message: expect.stringContaining("loopback") },
  ]);
  expect(unsupportedSettings(spec, { reachesLoopback: true })).toEqual([]);
});
