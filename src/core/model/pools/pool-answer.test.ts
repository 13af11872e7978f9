import { expect, test } from "vitest";
import { storedMeta } from "../../../../test/support/stored-meta.ts";
import { type BrowserPool, BrowserPoolSpec, BrowserPoolStatus } from "./browser-pool.ts";
import { BrowserPoolAnswer } from "./browser-pool-wire.ts";
import { browserPoolAnswer } from "./pool-answer.ts";

const pool = (spec: object, name = "demo"): BrowserPool => ({
  metadata: storedMeta(name, { creationTimestamp: "2026-01-02T03:04:05Z" }),
  spec: BrowserPoolSpec.parse({ size: 2, ...spec }),
});

const counts = { acquired: 1, available: 3 };

// POOL-6, POOL-8, POOL-20, PROFILE-8, EXTENSION-5
test("a bare pool is answered with its defaults, and nothing that was not set", () => {
  expect(browserPoolAnswer(pool({}, "tz4a98xxat96iws9zmbrgj3a"), counts, { extensionIds: [] })).toStrictEqual({
    id: "tz4a98xxat96iws9zmbrgj3a",
    region: "us-east",
    created_at: "2026-01-02T03:04:05Z",
    acquired_count: 1,
    available_count: 3,
    starting_count: 0,
    waiting_count: 0,
    conditions: [],
    extension_ids: [],
    browser_pool_config: {
      size: 2,
      fill_rate_per_minute: 25,
      timeout_seconds: 600,
      headless: false,
      stealth: false,
      kiosk_mode: false,
      memory: "8GiB",
      reuse_policy: "reset",
      serve_on_demand: false,
    },
  });
});

// GITOPS-5
test("a pool that Git owns is answered with the owner's word, cut where it is long", () => {
  const ownerOf = (value: string): string | undefined => {
    const bare = pool({});
    const annotations = { "browserpool.dev/managed-by": value };
    const owned = { ...bare, metadata: { ...bare.metadata, annotations } };
    return browserPoolAnswer(owned, counts, { extensionIds: [] }).managed_by;
  };
  expect(ownerOf("git")).toBe("git");
  expect(ownerOf("x".repeat(500))).toBe("x".repeat(63));
  expect(ownerOf(" ")).toBeUndefined();
});

// POOL-8, POOL-23
test("an autoscaled pool is answered with the size that it has now", () => {
  const spec = BrowserPoolSpec.parse({ autoscale: { min: 2, max: 5, buffer: 1 } });
  const scaled: BrowserPool = { ...pool({}), spec };
  const status = BrowserPoolStatus.parse({ acceptedSize: 0 });
  const config = (one: BrowserPool) => browserPoolAnswer(one, counts, { extensionIds: [] }).browser_pool_config;
  expect(config(scaled)).toMatchObject({
    size: 2,
    autoscale: { min: 2, max: 5, buffer: 1, scale_down_after_seconds: 300 },
  });
  expect(config({ ...scaled, status }).size).toBe(0);
});

// POOL-6, POOL-8
test("a full pool is answered with all of its settings, the selectors as they were given", () => {
  const record = browserPoolAnswer(
    pool({
      name: "work",
      region: "eu-west",
      chromePolicy: { ManagedBookmarks: [{ toplevel_name: "x", camelKey: 1 }] },
      extensions: [{ name: "b" }, { id: "a" }],
      network: { allowedHosts: ["a.test"], privateHosts: [], proxyRoutes: [{ hosts: ["a"], proxy: { id: "p" } }] },
      profile: { name: "me" },
      refreshOnProfileUpdate: false,
      proxyId: "px",
      startUrl: "https://a.test",
      viewport: { width: 1, height: 2, refreshRate: 3 },
      discardIdle: "token",
    }),
    counts,
    { profileId: "prof1", extensionIds: ["bid", "a"] },
  );
  expect(BrowserPoolAnswer.parse(record)).toEqual(record);
  expect(record).toMatchObject({
    id: "demo",
    name: "work",
    region: "eu-west",
    profile_id: "prof1",
    extension_ids: ["bid", "a"],
  });
  expect(record.browser_pool_config).toMatchObject({
    name: "work",
    chrome_policy: { ManagedBookmarks: [{ toplevel_name: "x", camelKey: 1 }] },
    extensions: [{ name: "b" }, { id: "a" }],
    network: { allowed_hosts: ["a.test"], private_hosts: [], proxy_routes: [{ hosts: ["a"], proxy: { id: "p" } }] },
    profile: { name: "me" },
    refresh_on_profile_update: false,
    proxy_id: "px",
    start_url: "https://a.test",
    viewport: { width: 1, height: 2, refresh_rate: 3 },
  });
  expect(record.browser_pool_config).not.toHaveProperty("discard_idle");
  expect(record.browser_pool_config).not.toHaveProperty("region");
});

// POOL-9
test("telemetry is answered in its resolved form, with the destination as a string", () => {
  const telemetry = {
    browser: { control: { cdp: { excludedMethods: ["A.b"] } } },
    export: { otlp: { destination: { name: "dest" } } },
  };
  const record = browserPoolAnswer(pool({ telemetry }), counts, { extensionIds: [] });
  expect(BrowserPoolAnswer.parse(record)).toEqual(record);
  expect(record.browser_pool_config.telemetry).toMatchObject({
    enabled: true,
    browser: { control: { enabled: true, cdp: { excluded_methods: ["A.b"] } }, console: { enabled: false } },
    export: { otlp: { enabled: true, destination: "dest" } },
  });
});

// HTTP-11
test("a pool written as YAML goes by its own name, and refreshes as soon as it has a profile", () => {
  const record = browserPoolAnswer(pool({ profile: { id: "p" } }), counts, { profileId: "p", extensionIds: [] });
  expect(record).toMatchObject({
    id: "demo",
    name: "demo",
    browser_pool_config: { name: "demo", refresh_on_profile_update: true },
  });
});

test("an object that was not read from the API server is refused", () => {
  const unread = { ...pool({}), metadata: storedMeta("demo") };
  expect(() => browserPoolAnswer(unread, counts, { extensionIds: [] })).toThrow("demo has no creationTimestamp");
});

test("a pool is answered with what the operator says of it", () => {
  const { metadata, spec, ...rest } = pool({});
  const lastTransitionTime = "2026-01-02T03:04:09Z";
  const status = BrowserPoolStatus.parse({
    starting: 1,
    waiting: 2,
    conditions: [
      { type: "Ready", status: "False", reason: "Filling", message: "1 of 2 browsers up", lastTransitionTime },
    ],
  });
  expect(browserPoolAnswer({ ...rest, metadata, spec, status }, counts, { extensionIds: [] })).toMatchObject({
    starting_count: 1,
    waiting_count: 2,
    conditions: [
      {
        ...{ type: "Ready", status: "False", reason: "Filling", message: "1 of 2 browsers up" },
        last_transition_time: lastTransitionTime,
      },
    ],
  });
});
