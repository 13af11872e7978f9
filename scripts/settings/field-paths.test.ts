import { expect, test } from "vitest";
import { readFields } from "./field-paths.ts";

const fields = new Map(readFields().map((field) => [field.path, field]));

test("a field has its names in YAML and over HTTP, also deep inside of lists, and who has it", () => {
  expect(fields.get("network.proxyRoutes[].proxy.id")).toMatchObject({
    yaml: "network.proxyRoutes[].proxy.id",
    http: "network.proxy_routes[].proxy.id",
    owners: new Set(["pool", "browser"]),
  });
  expect(fields.get("telemetry.browser.control.cdp.excludedMethods")?.http).toBe(
    "telemetry.browser.control.cdp.excluded_methods",
  );
  expect(fields.get("gpu")?.owners).toEqual(new Set(["browser"]));
});

test("a field that there is in one form only has no name in the other", () => {
  expect(fields.get("discardAllIdle")).toMatchObject({ http: "discard_all_idle", owners: new Set(["pool"]) });
  expect(fields.get("discardAllIdle")).not.toHaveProperty("yaml");
  expect(fields.get("discardIdle")).not.toHaveProperty("http");
  expect(fields.get("chromePolicyRef.sha256")).not.toHaveProperty("http");
});

test("a list of values and a free map are one field each", () => {
  for (const path of ["network.allowedHosts", "chromePolicy", "tags"]) expect(fields.has(path)).toBe(true);
  for (const path of ["network", "viewport", "profile"]) expect(fields.has(path)).toBe(false);
});
