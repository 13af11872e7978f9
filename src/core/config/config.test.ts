import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

// LIMIT-2, LIMIT-3
test("the organization's limits are 50 pooled sessions, a fill rate of 25 and sessions of 72 hours, unless they are set", () => {
  const others = {
    onDemandSessions: 50,
    projectOnDemandSessions: 25,
    blankBrowsers: 10,
    objectsPerProject: {
      authconnections: 500,
      browserpools: 100,
      credentials: 200,
      extensions: 100,
      profiles: 500,
      proxies: 200,
      vaultitems: 1000,
      vaults: 500,
    },
    extensionBytesPerProject: 1_073_741_824,
    policyBytesPerProject: 134_217_728,
  };
  expect(readConfig({}).limits).toEqual({
    pooledSessions: 50,
    fillRatePerMinute: 25,
    sessionSeconds: 259_200,
    ...others,
  });
  const raised = readConfig({
    BROWSERPOOL_POOLED_SESSIONS: "7",
    BROWSERPOOL_FILL_RATE_CAP: "100",
    BROWSERPOOL_MAX_SESSION_SECONDS: "60",
  });
  expect(raised.limits).toEqual({ pooledSessions: 7, fillRatePerMinute: 100, sessionSeconds: 60, ...others });
  expect(() => readConfig({ BROWSERPOOL_MAX_SESSION_SECONDS: "259201" })).toThrow("BROWSERPOOL_MAX_SESSION_SECONDS");
});

// LIMIT-18
test("trusted proxies are ranges, and anything else is named", () => {
  const read = (ranges: string) => readConfig({ BROWSERPOOL_TRUSTED_PROXIES: ranges }).trustedProxies;
  expect(read("")).toEqual([]);
  expect(read("10.0.0.0/8, fd00::/8")).toEqual(["10.0.0.0/8", "fd00::/8"]);
  for (const wrong of ["10.0.0.1", "10.0.0.0/33", "proxy.example", "*"])
    expect(() => read(`10.0.0.0/8,${wrong}`)).toThrow("BROWSERPOOL_TRUSTED_PROXIES.1: must be ranges");
});

// AUTH-16
test("origins are what browsers send: not null, and nothing behind the host", () => {
  const read = (text: string) => readConfig({ BROWSERPOOL_ALLOWED_ORIGINS: text }).allowedOrigins;
  expect(read("https://console.example, http://localhost:3000,chrome-extension://abc")).toEqual([
    ...["https://console.example", "http://localhost:3000", "chrome-extension://abc"],
  ]);
  for (const bad of ["null", "*", "https://*.example", "console.example", "https://a.example/", "https://A.example"])
    expect(() => read(`https://b.example,${bad}`)).toThrow(
      "BROWSERPOOL_ALLOWED_ORIGINS: expected origins such as https://console.example",
    );
});

// PROVIDER-15
test("addresses of Vaults are origins as URL.origin has them, which are compared as texts", () => {
  const read = (text: string) =>
    readConfig({ BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES: text }).credentialProviderAddresses;
  expect(read("")).toEqual([]);
  const addresses = ["https://vault.example:8200", "http://vault.vault:8200", "https://[fd00::1]:8200"];
  expect(read(addresses.join(", "))).toEqual(addresses);
  for (const bad of ["vault.example", "https://vault.example/", "https://Vault.example", "https://vault.example:443"])
    expect(() => read(bad)).toThrow("BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES: expected origins such as");
  for (const bad of ["https://a@vault.example", "https://*", "ftp://vault.example", "null"])
    expect(() => read(bad)).toThrow("BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES");
});

test("blobs are in a folder, in a bucket, or nowhere, and anything else is named", () => {
  const read = (BROWSERPOOL_BLOBS: string, more = {}) => readConfig({ BROWSERPOOL_BLOBS, ...more }).blobs;
  expect(read("")).toBeUndefined();
  expect(read("file:///var/lib/my%20blobs")).toEqual({ kind: "folder", path: "/var/lib/my blobs" });
  const aws = { kind: "s3", bucket: "my-bucket", prefix: "", endpoint: undefined, region: "us-east-1" };
  expect(read("s3://my-bucket")).toEqual({ ...aws, pathStyle: false });
  expect(read("s3://my-bucket/a/b.c/")).toEqual({ ...aws, prefix: "a/b.c/", pathStyle: false });
  const own = { BROWSERPOOL_S3_ENDPOINT: "http://s3.example:9000", BROWSERPOOL_S3_REGION: "eu-1" };
  const there = { ...aws, endpoint: "http://s3.example:9000", region: "eu-1" };
  expect(read("s3://my-bucket/", own)).toEqual({ ...there, pathStyle: true });
  expect(read("s3://my-bucket", { ...own, BROWSERPOOL_S3_PATH_STYLE: "false" })).toEqual({
    ...there,
    pathStyle: false,
  });
  for (const bad of ["/var/blobs", "file://host/blobs", "file:///", "s3://", "s3://B", "s3://bucket//a", "http://a"])
    expect(() => read(bad), bad).toThrow("BROWSERPOOL_BLOBS: must be file:///folder");
  expect(() => read("s3://my-bucket", { BROWSERPOOL_S3_ENDPOINT: "s3.example" })).toThrow("BROWSERPOOL_S3_ENDPOINT");
});
