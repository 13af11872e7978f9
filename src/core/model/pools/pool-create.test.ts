import { describe, expect, test } from "vitest";
import { BrowserPoolSpec } from "./browser-pool.ts";
import { CreateBrowserPool } from "./browser-pool-wire.ts";
import { createPool } from "./pool-create.ts";

const specOf = (body: object): BrowserPoolSpec => {
  const created = createPool(CreateBrowserPool.parse({ size: 1, ...body }));
  if (!created.ok) throw new Error(JSON.stringify(created.problems));
  expect(BrowserPoolSpec.parse(created.spec)).toEqual(created.spec);
  return created.spec;
};

const problemsOf = (body: object) => {
  const created = createPool(CreateBrowserPool.parse({ size: 1, ...body }));
  return created.ok ? [] : created.problems;
};

const night = { start: "20:00", end: "06:00" };

const defaults = {
  size: 1,
  region: "us-east",
  fillRatePerMinute: 25,
  timeoutSeconds: 600,
  headless: false,
  stealth: false,
  kioskMode: false,
  memory: "8GiB",
  reusePolicy: "reset",
  serveOnDemand: false,
};

describe("a new pool", () => {
  // POOL-2, POOL-3
  test("has the defaults and nothing else", () => {
    expect(specOf({})).toStrictEqual(defaults);
  });

  // POOL-3
  test("is in the region that was asked for", () => {
    expect(specOf({ region: "eu-west" }).region).toBe("eu-west");
  });

  // POOL-4
  test("replaces idle browsers when its profile changes, unless that is turned off", () => {
    expect(specOf({ profile: { name: "work" } })).toMatchObject({
      profile: { name: "work" },
      refreshOnProfileUpdate: true,
    });
    expect(specOf({ profile: { id: "p" }, refresh_on_profile_update: false }).refreshOnProfileUpdate).toBe(false);
  });

  // POOL-5
  test("takes empty values as not set", () => {
    const empty = {
      start_url: "",
      proxy_id: "",
      profile: { id: "" },
      extensions: [],
      chrome_policy: {},
      network: {},
      autoscale: {},
      telemetry: {},
    };
    expect(specOf(empty)).toStrictEqual(defaults);
    expect(specOf({ telemetry: null })).toStrictEqual(defaults);
  });

  // NETWORK-4
  test("keeps the names of policies and an explicit empty list of private hosts", () => {
    const spec = specOf({ chrome_policy: { URLBlocklist: [] }, network: { private_hosts: [] } });
    expect(spec).toMatchObject({ chromePolicy: { URLBlocklist: [] }, network: { privateHosts: [] } });
  });

  // POOL-23
  test("has a size or autoscale, with the defaults of that", () => {
    const spec = specOf({
      size: undefined,
      autoscale: { max: 9, schedule: [{ start: "08:00", end: "18:00", min: 3 }] },
    });
    expect(spec).not.toHaveProperty("size");
    expect(spec.autoscale).toEqual({
      min: 1,
      max: 9,
      buffer: "20%",
      scaleDownAfterSeconds: 300,
      schedule: [
        {
          days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
          start: "08:00",
          end: "18:00",
          timeZone: "UTC",
          min: 3,
        },
      ],
    });
  });

  // TELEMETRY-2, TELEMETRY-3
  test("has telemetry in its resolved form, from the default set on", () => {
    const { telemetry } = specOf({ telemetry: { enabled: true, browser: { page: { enabled: true } } } });
    const on = Object.entries(telemetry?.browser ?? {}).flatMap(([name, category]) =>
      category?.enabled ? [name] : [],
    );
    expect(on).toEqual(["captcha", "connection", "control", "page", "system"]);
    expect(specOf({ telemetry: { enabled: false } })).not.toHaveProperty("telemetry");
  });

  // POOL-1, POOL-23, NETWORK-1, NETWORK-5, PROFILE-1, EXTENSION-1, TELEMETRY-4, TELEMETRY-6
  test.each<[object, string]>([
    [{ size: undefined }, "size"],
    [{ autoscale: { max: 3 } }, "size"],
    [{ size: undefined, autoscale: { min: 3 } }, "autoscale.max"],
    [{ size: undefined, autoscale: { min: 4, max: 3 } }, "autoscale.min"],
    [{ size: undefined, autoscale: { max: 3, schedule: [{ ...night, min: 4 }] } }, "autoscale.schedule[0].min"],
    [{ size: undefined, autoscale: { max: 3, schedule: [night] } }, "autoscale.schedule[0]"],
    [
      { size: undefined, autoscale: { max: 3, schedule: [{ ...night, min: 0, time_zone: "Mars/Olympus" }] } },
      "autoscale.schedule[0].time_zone",
    ],
    [{ refresh_on_profile_update: true }, "refresh_on_profile_update"],
    [{ profile: {} }, "profile"],
    [{ profile: { id: "a", name: "b" } }, "profile"],
    [{ extensions: [{ id: "a" }, {}] }, "extensions[1]"],
    [{ chrome_policy: { ProxyMode: "direct" } }, "chrome_policy.ProxyMode"],
    [{ network: { private_hosts: ["db", "8.8.8.8"] } }, "network.private_hosts[1]"],
    [{ network: { allowed_hosts: ["a/b"] } }, "network.allowed_hosts[0]"],
    [{ network: { proxy_routes: [{ hosts: ["a", "b/"], proxy: { id: "p" } }] } }, "network.proxy_routes[0].hosts[1]"],
    [{ network: { proxy_routes: [{ hosts: ["a"], proxy: {} }] } }, "network.proxy_routes[0].proxy"],
    [{ telemetry: { enabled: false, browser: { page: { enabled: true } } } }, "telemetry.browser"],
    [
      { telemetry: { export: { otlp: { enabled: false, destination: { id: "d" } } } } },
      "telemetry.export.otlp.destination",
    ],
  ])("is refused for %j, naming the field as it was written", (body, path) => {
    expect(problemsOf(body)).toEqual([{ path, message: expect.any(String) }]);
  });

  test("is refused with every problem at once", () => {
    expect(problemsOf({ profile: {}, extensions: [{}], network: { private_hosts: ["*", "1.1.1.1"] } })).toHaveLength(4);
  });
});
