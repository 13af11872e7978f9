import { expect, test } from "vitest";
import { onDemandPoolSpec } from "../browsers/on-demand-pool.ts";
import { featureProblems } from "./browser-features.ts";

// HTTP-30, PROFILE-7
test("a browser can save its profile where there is a store, and not elsewhere: over HTTP and by YAML", () => {
  const spec = { profile: { name: "work", saveChanges: true } };
  const asPool = onDemandPoolSpec({ ...spec, vaults: [], timeoutSeconds: 60 } as never);
  for (const settings of [spec, asPool]) {
    expect(featureProblems(settings, [])).toMatchObject([{ path: ["profile"] }]);
    expect(featureProblems(settings, ["blob_store"])).toEqual([]);
  }
  expect(featureProblems({ profile: { name: "work", saveChanges: false } as never }, [])).toEqual([]);
});

// NETWORK-3
test.each(["127.0.0.1", "localhost:3000", "[::1]", "127.0.0.0/8", "*.localhost"])(
  "private_hosts %s needs an installation whose browsers reach loopback, and is named by its place",
  (host) => {
    const settings = { network: { privateHosts: ["10.0.0.0/8", host] } } as never;
    expect(featureProblems(settings, ["network"])).toMatchObject([
      { path: ["network", "privateHosts", 1], message: expect.stringContaining("loopback is not allowed") },
    ]);
    expect(featureProblems(settings, ["network", "loopback"])).toEqual([]);
    expect(featureProblems(settings, ["network"], settings)).toEqual([]);
  },
);
