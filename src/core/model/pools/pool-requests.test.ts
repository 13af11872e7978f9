import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BrowserPoolSpec } from "./browser-pool.ts";
import { CreateBrowserPool, UpdateBrowserPool } from "./browser-pool-wire.ts";
import { newPoolSpec, patchPool } from "./pool-requests.ts";

const specOf = (body: object): BrowserPoolSpec => {
  const created = newPoolSpec(CreateBrowserPool.parse({ size: 1, ...body }));
  if (!created.ok) throw new Error(JSON.stringify(created.problems));
  expect(BrowserPoolSpec.parse(created.spec)).toEqual(created.spec);
  return created.spec;
};

const problemsOf = (body: object) => {
  const created = newPoolSpec(CreateBrowserPool.parse({ size: 1, ...body }));
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

const bare = BrowserPoolSpec.parse({ size: 1, discardIdle: "before" });
const full = BrowserPoolSpec.parse({
  ...bare,
  name: "work",
  profile: { name: "me" },
  refreshOnProfileUpdate: true,
  extensions: [{ id: "a" }],
  chromePolicy: { PrintingEnabled: true },
  proxyId: "px",
  startUrl: "https://a.test",
  viewport: { width: 800, height: 600, refreshRate: 10 },
  network: { allowedHosts: ["a.test"], privateHosts: ["db"] },
  telemetry: { enabled: true, browser: { page: { enabled: true } } },
});

const large = BrowserPoolSpec.parse({ ...bare, chromePolicyRef: { sha256: "a".repeat(64), configMaps: ["c"] } });

const result = (spec: BrowserPoolSpec, body: object) => patchPool(spec, UpdateBrowserPool.parse(body));

const patched = (spec: BrowserPoolSpec, body: object): BrowserPoolSpec => {
  const found = result(spec, body);
  if (!found.ok) throw new Error(JSON.stringify(found.problems));
  return found.spec;
};

const paths = (spec: BrowserPoolSpec, body: object): string[] => {
  const found = result(spec, body);
  return found.ok ? [] : found.problems.map(({ path }) => path);
};

const without = (spec: BrowserPoolSpec, ...keys: (keyof BrowserPoolSpec)[]) =>
  Object.fromEntries(Object.entries(spec).filter(([key]) => !(keys as string[]).includes(key)));

/** Number of a POOL-PATCH rule; what is patched; the request; the fields that are then different (undefined: gone). */
const rules: [string, BrowserPoolSpec, object, Partial<Record<keyof BrowserPoolSpec, unknown>>][] = [
  [
    "1: save_changes is ignored",
    bare,
    { profile: { id: "p", save_changes: true } },
    { profile: { id: "p" }, refreshOnProfileUpdate: true },
  ],
  [
    "2: an empty id clears the profile and its refresh",
    full,
    { profile: { id: "" } },
    { profile: undefined, refreshOnProfileUpdate: false },
  ],
  [
    "2: an empty name clears the profile and its refresh",
    full,
    { profile: { name: "" } },
    { profile: undefined, refreshOnProfileUpdate: false },
  ],
  [
    "3: extensions replace the list",
    full,
    { extensions: [{ name: "b" }, { id: "c" }] },
    { extensions: [{ name: "b" }, { id: "c" }] },
  ],
  ["3: an empty list clears the extensions", full, { extensions: [] }, { extensions: undefined }],
  [
    "4: chrome_policy replaces the overrides",
    full,
    { chrome_policy: { URLBlocklist: [] } },
    { chromePolicy: { URLBlocklist: [] } },
  ],
  ["4: an empty object clears the policy", full, { chrome_policy: {} }, { chromePolicy: undefined }],
  ["4: another field leaves a policy outside the pool", large, { size: 3 }, { size: 3 }],
  [
    "4: chrome_policy replaces one outside the pool",
    large,
    { chrome_policy: { URLBlocklist: [] } },
    { chromePolicy: { URLBlocklist: [] }, chromePolicyRef: undefined },
  ],
  ["4: an empty object clears a policy outside the pool", large, { chrome_policy: {} }, { chromePolicyRef: undefined }],
  ["5: proxy_id replaces", full, { proxy_id: "py" }, { proxyId: "py" }],
  ["5: an empty proxy_id clears", full, { proxy_id: "" }, { proxyId: undefined }],
  ["6: start_url replaces", full, { start_url: "https://new.example" }, { startUrl: "https://new.example" }],
  ["6: an empty start_url clears", full, { start_url: "" }, { startUrl: undefined }],
  ["7: name replaces", full, { name: "play" }, { name: "play" }],
  ["7: an empty name is a no-op", full, { name: "" }, {}],
  ["8: viewport is replaced whole", full, { viewport: { width: 1, height: 2 } }, { viewport: { width: 1, height: 2 } }],
  [
    "9: network is replaced whole",
    full,
    { network: { allowed_hosts: ["b.test"] } },
    { network: { allowedHosts: ["b.test"] } },
  ],
  ["9: an empty network removes it", full, { network: {} }, { network: undefined }],
  [
    "9: an empty list of private hosts is kept",
    full,
    { network: { private_hosts: [] } },
    { network: { privateHosts: [] } },
  ],
  [
    "10: a new profile turns refresh on",
    bare,
    { profile: { name: "me" } },
    { profile: { name: "me" }, refreshOnProfileUpdate: true },
  ],
  [
    "10: another profile turns refresh on again",
    { ...full, refreshOnProfileUpdate: false },
    { profile: { name: "you" } },
    { profile: { name: "you" }, refreshOnProfileUpdate: true },
  ],
  [
    "10: another profile with refresh given",
    full,
    { profile: { id: "x" }, refresh_on_profile_update: false },
    { profile: { id: "x" }, refreshOnProfileUpdate: false },
  ],
  [
    "10: the same profile leaves refresh alone",
    { ...full, refreshOnProfileUpdate: false },
    { profile: { name: "me" } },
    {},
  ],
  ["10: refresh alone", full, { refresh_on_profile_update: false }, { refreshOnProfileUpdate: false }],
  ["11: telemetry null leaves it", full, { telemetry: null }, {}],
  ["11: telemetry {} leaves it", full, { telemetry: {} }, {}],
  ["11: enabled: false clears telemetry", full, { telemetry: { enabled: false } }, { telemetry: undefined }],
  ["12: size", full, { size: 7 }, { size: 7 }],
  ["13: memory", full, { memory: "16GiB" }, { memory: "16GiB" }],
  ["14: discard_all_idle changes nothing in the spec", full, { discard_all_idle: true }, {}],
  [
    "the plain fields replace",
    full,
    { fill_rate_per_minute: 0, timeout_seconds: 10, headless: true, stealth: true, kiosk_mode: true },
    { fillRatePerMinute: 0, timeoutSeconds: 10, headless: true, stealth: true, kioskMode: true },
  ],
  ["region is not updatable", full, { region: "eu-west" }, {}],
];

describe("an update changes what its rule says and nothing else", () => {
  // POOL-PATCH-1, POOL-PATCH-2, POOL-PATCH-3, POOL-PATCH-4, POOL-PATCH-5, POOL-PATCH-6, POOL-PATCH-7, POOL-PATCH-8
  // POOL-PATCH-9, POOL-PATCH-10, POOL-PATCH-11, POOL-3
  test.each(rules)("rule %s", (_rule, spec, body, changes) => {
    const next = patched(spec, body);
    const set = Object.entries(changes).filter(([, value]) => value !== undefined);
    expect(next).toStrictEqual({
      ...without(spec, ...(Object.keys(changes) as (keyof BrowserPoolSpec)[])),
      ...Object.fromEntries(set),
    });
  });

  // POOL-PATCH-10
  test("rule 10: the same profile by its id instead of its name is named so from then on, and leaves refresh alone", () => {
    const spec = { ...full, profile: { name: "work" }, refreshOnProfileUpdate: false };
    const same = patchPool(spec, UpdateBrowserPool.parse({ profile: { id: "abc" } }), { isSameProfile: true });
    expect(same).toMatchObject({ ok: true, spec: { profile: { id: "abc" }, refreshOnProfileUpdate: false } });
    const other = patchPool(spec, UpdateBrowserPool.parse({ profile: { id: "abc" } }), { isSameProfile: false });
    expect(other).toMatchObject({ ok: true, spec: { profile: { id: "abc" }, refreshOnProfileUpdate: true } });
  });

  // POOL-PATCH-11, TELEMETRY-3
  test("rule 11: categories merge onto the present ones, enabled: true starts again", () => {
    const enabled = (body: object) => {
      const categories = Object.entries(patched(full, { telemetry: body }).telemetry?.browser ?? {});
      return categories.flatMap(([name, category]) => (category?.enabled ? [name] : []));
    };
    expect(enabled({ browser: { network: { enabled: true }, captcha: { enabled: false } } })).toEqual([
      "connection",
      "control",
      "network",
      "page",
      "system",
    ]);
    expect(enabled({ enabled: true })).toEqual(["captcha", "connection", "control", "system"]);
  });

  // POOL-PATCH-14
  test("rule 14: the request to discard what is idle is passed on, and is off by default", () => {
    expect(result(full, { discard_all_idle: true })).toMatchObject({ discardIdle: true });
    expect(result(full, { size: 2 })).toMatchObject({ discardIdle: false });
  });

  test("the spec that is patched stays as it was", () => {
    const before = structuredClone(full);
    patched(full, {
      size: 9,
      profile: { id: "" },
      telemetry: { browser: { console: { enabled: true } } },
      network: {},
    });
    expect(full).toEqual(before);
  });
});

describe("an update is refused, naming the field as it was written", () => {
  // POOL-PATCH-2, POOL-PATCH-10, POOL-PATCH-16, TELEMETRY-4
  test.each<[string, BrowserPoolSpec, object, string[]]>([
    ["2: an empty profile", full, { profile: {} }, ["profile"]],
    ["2: a profile with nothing but save_changes", full, { profile: { save_changes: false } }, ["profile"]],
    ["a profile with id and name", full, { profile: { id: "a", name: "b" } }, ["profile"]],
    ["3: an extension without id and name", full, { extensions: [{ id: "a" }, {}] }, ["extensions[1]"]],
    [
      "4: a policy that the service manages",
      full,
      { chrome_policy: { ExtensionSettings: {} } },
      ["chrome_policy.ExtensionSettings"],
    ],
    [
      "9: a public private host",
      full,
      { network: { private_hosts: ["db", "db2", "db3", "1.1.1.1"] } },
      ["network.private_hosts[3]"],
    ],
    ["10: refresh without a profile", bare, { refresh_on_profile_update: true }, ["refresh_on_profile_update"]],
    [
      "10: refresh while the profile is cleared",
      full,
      { profile: { id: "" }, refresh_on_profile_update: true },
      ["refresh_on_profile_update"],
    ],
    [
      "11: telemetry off with categories",
      full,
      { telemetry: { enabled: false, browser: { page: { enabled: true } } } },
      ["telemetry.browser"],
    ],
    [
      "several at once",
      full,
      { profile: {}, network: { allowed_hosts: ["a/b"] } },
      ["profile", "network.allowed_hosts[0]"],
    ],
  ])("rule %s", (_rule, spec, body, expected) => {
    expect(paths(spec, body)).toEqual(expected);
  });

  // POOL-PATCH-19
  test("when size and autoscale are left to contradict each other", () => {
    const scaled = BrowserPoolSpec.parse({ autoscale: { max: 5 } });
    expect(paths(scaled, { size: 3 })).toEqual(["size"]);
    expect(paths(scaled, { autoscale: {} })).toEqual(["size"]);
    expect(paths(bare, { size: 3, autoscale: { max: 5 } })).toEqual(["size"]);
    expect(paths(bare, { autoscale: { min: 2 } })).toEqual(["autoscale.max"]);
    expect(paths(bare, { autoscale: { min: 7, max: 5 } })).toEqual(["autoscale.min"]);
  });

  // POOL-PATCH-18
  test("but not for a fault that the pool had before, so that it can still be resized", () => {
    const faulty = { ...full, network: { privateHosts: ["8.8.8.8"] }, profile: {} };
    expect(patched(faulty, { size: 3 })).toEqual({ ...faulty, size: 3 });
  });
});

const maybe = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const onOff = { enabled: maybe(true, false) };
const anyBody: fc.Arbitrary<object> = fc
  .record({
    size: maybe(1, 5),
    autoscale: maybe<object>({}, { max: 5 }, { min: 9, max: 5 }, { min: 1 }, { min: 0, max: 3, buffer: "5%" }),
    fill_rate_per_minute: maybe(0, 12.5),
    timeout_seconds: maybe(10, 259200),
    headless: maybe(true, false),
    memory: maybe("8GiB", "16GiB"),
    name: maybe("", "a", "b.c-d_e"),
    profile: maybe<object>({}, { id: "" }, { name: "" }, { id: "p" }, { name: "n" }, { id: "p", name: "n" }),
    refresh_on_profile_update: maybe(true, false),
    extensions: maybe<object[]>([], [{ id: "a" }], [{}]),
    chrome_policy: maybe<object>({}, { PrintingEnabled: true }, { ProxyMode: "direct" }),
    proxy_id: maybe("", "px"),
    start_url: maybe("", "about:blank"),
    viewport: maybe({ width: 1, height: 1 }),
    network: maybe<object>({}, { private_hosts: [] }, { allowed_hosts: ["a.test"] }, { private_hosts: ["8.8.8.8"] }),
    telemetry: fc.oneof(
      maybe<object | null>(null, {}),
      fc.record({ enabled: maybe(true, false) }),
      fc.record({
        browser: fc.record({ console: fc.record(onOff), captcha: fc.record(onOff) }),
        export: fc.record({ otlp: maybe<object>({ enabled: false }, { destination: { id: "d" } }, { enabled: true }) }),
        storage: fc.record(onOff),
      }),
    ),
    discard_all_idle: maybe(true, false),
  })
  .map((body) => JSON.parse(JSON.stringify(body)));

describe("for any update", () => {
  // POOL-PATCH-15
  test("an empty one changes nothing", () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        const found = result(full, body);
        fc.pre(found.ok);
        expect(patched(found.ok ? found.spec : full, {})).toStrictEqual(found.ok ? found.spec : full);
      }),
    );
  });

  test("the result fits the schema of the spec, keeps its region and its token, and no field is undefined", () => {
    fc.assert(
      fc.property(fc.constantFrom(bare, full), anyBody, (spec, body) => {
        const found = result(spec, body);
        fc.pre(found.ok);
        const next = found.ok ? found.spec : spec;
        expect(BrowserPoolSpec.parse(next)).toStrictEqual(next);
        expect(next).toMatchObject({ region: spec.region, discardIdle: spec.discardIdle });
      }),
    );
  });

  test("the same one again changes nothing more", () => {
    fc.assert(
      fc.property(fc.constantFrom(bare, full), anyBody, (spec, body) => {
        const once = result(spec, body);
        fc.pre(once.ok);
        expect(patched(once.ok ? once.spec : spec, body)).toStrictEqual(once.ok ? once.spec : spec);
      }),
    );
  });
});
