import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { KubeError } from "../../src/platform/kube/kube-error.ts";
import { startTestControlPlane, type TestControlPlane } from "./start-control-plane.ts";

const namespace = "default";
const sample = join(import.meta.dirname, "..", "..", "manifests", "samples", "pool.yaml");

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(async () => {
  await plane?.stop();
});

let made = 0;
const create = (spec: object): Promise<BrowserPool> => {
  made += 1;
  const object = { metadata: { name: `pool-${made}`, namespace }, spec } as BrowserPool;
  return plane.kube.create(browserPoolKind, object) as Promise<BrowserPool>;
};

const refusal = async (attempt: Promise<unknown>): Promise<string> => {
  const error = await attempt.then(
    () => ({ message: "accepted" }),
    (reason: KubeError) => reason,
  );
  return error.message;
};

const selector = { name: "work" };
const scheduled = (window: object) => ({
  autoscale: { max: 2, schedule: [{ start: "08:00", end: "18:00", ...window }] },
});

describe("a pool written as YAML", () => {
  // POOL-2
  test("gets the service's defaults and nothing else", async () => {
    expect((await create({ size: 2 })).spec).toEqual({
      size: 2,
      region: "us-east",
      fillRatePerMinute: 25,
      timeoutSeconds: 600,
      headless: false,
      stealth: false,
      kioskMode: false,
      memory: "8GiB",
      reusePolicy: "reset",
      serveOnDemand: false,
    });
  });

  test("keeps every given setting", async () => {
    const spec = {
      name: "Scrapers.v2_a-b",
      region: "eu-west",
      size: 1,
      fillRatePerMinute: 0,
      timeoutSeconds: 259200,
      headless: true,
      stealth: true,
      kioskMode: true,
      memory: "16GiB",
      chromePolicy: {
        URLBlocklist: ["a.test"],
        ManagedBookmarks: [{ toplevel_name: "x", deep: { er: [1, null] } }],
        PrintingEnabled: false,
      },
      extensions: [{ id: "ext1" }, { name: "ad-block" }],
      network: {
        allowedHosts: ["*.example.com"],
        privateHosts: [],
        proxyRoutes: [{ hosts: ["a.test"], proxy: selector }],
      },
      profile: selector,
      proxyId: "px1",
      refreshOnProfileUpdate: true,
      startUrl: "about:blank",
      telemetry: {
        enabled: true,
        browser: {
          control: { enabled: true, cdp: { excludedMethods: ["Input.insertText"] } },
          page: { enabled: true },
        },
        export: { otlp: { enabled: true, destination: { id: "dest" } } },
        storage: { enabled: false },
      },
      viewport: { width: 390, height: 844, refreshRate: 60 },
      discardIdle: "once",
      reusePolicy: "keep",
      serveOnDemand: true,
      maxSessionSeconds: 3600,
    };
    expect((await create(spec)).spec).toEqual(spec);
  });

  // POOL-23
  test("may have autoscale in place of a size, with a number or a percentage as its buffer", async () => {
    const window = { days: ["Mon", "Fri"], start: "08:00", end: "18:00", timeZone: "Europe/Berlin", min: 2 };
    const autoscale = { min: 0, max: 5, buffer: 2, scaleDownAfterSeconds: 60, schedule: [window] };
    expect((await create({ autoscale })).spec.autoscale).toEqual(autoscale);
    const { spec } = await create({ autoscale: { max: 5 } });
    expect(spec).not.toHaveProperty("size");
    expect(spec.autoscale).toEqual({ min: 1, max: 5, buffer: "20%", scaleDownAfterSeconds: 300 });
  });

  // POOL-24, LIMIT-8
  test.each<[string, object, string]>([
    ["neither size nor autoscale", {}, "give exactly one of size and autoscale"],
    ["size and autoscale", { size: 1, autoscale: { max: 2 } }, "give exactly one of size and autoscale"],
    ["autoscale without max", { autoscale: { min: 1 } }, "spec.autoscale.max: Required value"],
    ["min above max", { autoscale: { min: 3, max: 2 } }, "spec.autoscale.min: Invalid value"],
    ["a buffer that is no percentage", { autoscale: { max: 2, buffer: "x" } }, "spec.autoscale.buffer: Invalid value"],
    ["a buffer below 0", { autoscale: { max: 2, buffer: -1 } }, "spec.autoscale.buffer: Invalid value"],
    ["a buffer that is a fraction", { autoscale: { max: 2, buffer: 1.5 } }, "spec.autoscale.buffer: Invalid value"],
    [
      "no quiet time",
      { autoscale: { max: 2, scaleDownAfterSeconds: 0 } },
      "spec.autoscale.scaleDownAfterSeconds: Invalid value",
    ],
    ["a window without bounds", scheduled({}), "spec.autoscale.schedule[0]: Invalid value"],
    ["a window whose min is above the pool's max", scheduled({ min: 3 }), "spec.autoscale.schedule: Invalid value"],
    [
      "a window that begins at 24:00",
      scheduled({ min: 0, start: "24:00" }),
      "spec.autoscale.schedule[0].start: Invalid",
    ],
    [
      "a window on a day that there is not",
      scheduled({ min: 0, days: ["Monday"] }),
      "schedule[0].days[0]: Unsupported",
    ],
    ["size 0", { size: 0 }, "spec.size: Invalid value: 0"],
    ["a size that is not a number", { size: "2" }, "spec.size: Invalid value"],
    ["a negative fill rate", { size: 1, fillRatePerMinute: -1 }, "spec.fillRatePerMinute: Invalid value"],
    ["a timeout below 10", { size: 1, timeoutSeconds: 9 }, "spec.timeoutSeconds: Invalid value: 9"],
    ["a timeout above 72 hours", { size: 1, timeoutSeconds: 259201 }, "spec.timeoutSeconds: Invalid value: 259201"],
    ["an unknown region", { size: 1, region: "mars" }, "spec.region: Unsupported value"],
    ["an unknown memory", { size: 1, memory: "4GiB" }, "spec.memory: Unsupported value"],
    ["a name with a space", { size: 1, name: "a b" }, "spec.name: Invalid value"],
    ["21 extensions", { size: 1, extensions: Array.from({ length: 21 }, () => selector) }, "spec.extensions: Too many"],
    ["an extension without id and name", { size: 1, extensions: [{}] }, "spec.extensions[0]: Invalid value"],
    [
      "an extension with id and name",
      { size: 1, extensions: [{ id: "a", name: "b" }] },
      "give exactly one of id and name",
    ],
    ["a profile without id and name", { size: 1, profile: {} }, "spec.profile: Invalid value"],
    [
      "a refresh without a profile",
      { size: 1, refreshOnProfileUpdate: true },
      "spec.refreshOnProfileUpdate: Invalid value",
    ],
    [
      "33 private hosts",
      { size: 1, network: { privateHosts: Array.from({ length: 33 }, () => "a") } },
      "spec.network.privateHosts: Too many",
    ],
    [
      "a private host of 256 characters",
      { size: 1, network: { privateHosts: ["a".repeat(256)] } },
      "spec.network.privateHosts[0]: Too long",
    ],
    [
      "a proxy route without a proxy",
      { size: 1, network: { proxyRoutes: [{ hosts: ["a"] }] } },
      "spec.network.proxyRoutes[0].proxy: Required",
    ],
    [
      "a proxy route with two proxies",
      { size: 1, network: { proxyRoutes: [{ hosts: ["a"], proxy: { id: "a", name: "b" } }] } },
      "spec.network.proxyRoutes[0].proxy: Invalid",
    ],
    ["a start URL of 2049 characters", { size: 1, startUrl: "a".repeat(2049) }, "spec.startUrl: Too long"],
    // BROWSER-31
    ["a start URL of the machine's files", { size: 1, startUrl: "file:///etc/passwd" }, "spec.startUrl: Invalid value"],
    ["a start URL that is a script", { size: 1, startUrl: "javascript:alert(1)" }, "spec.startUrl: Invalid value"],
    [
      "a start URL of a control character",
      { size: 1, startUrl: "https://a.example/\u0000" },
      "spec.startUrl: Invalid value",
    ],
    // HTTP-33
    ["a name of the form of an id", { size: 1, name: "a".repeat(24) }, "must not have the form of an id"],
    ["a name that is a folder", { size: 1, name: ".." }, "must not have the form of an id"],
    ["a viewport without height", { size: 1, viewport: { width: 1 } }, "spec.viewport.height: Required value"],
    ["a viewport of no width", { size: 1, viewport: { width: 0, height: 1 } }, "spec.viewport.width: Invalid value"],
    [
      "a refresh rate of 0",
      { size: 1, viewport: { width: 1, height: 1, refreshRate: 0 } },
      "spec.viewport.refreshRate: Invalid value",
    ],
    ["a discard token of 65 characters", { size: 1, discardIdle: "a".repeat(65) }, "spec.discardIdle: Too long"],
    [
      "telemetry off with categories",
      { size: 1, telemetry: { enabled: false, browser: { page: {} } } },
      "spec.telemetry: Invalid value",
    ],
    [
      "an export that is off with a destination",
      { size: 1, telemetry: { export: { otlp: { enabled: false, destination: selector } } } },
      "spec.telemetry.export.otlp: Invalid value",
    ],
    [
      "an export without a destination",
      { size: 1, telemetry: { export: { otlp: { enabled: true } } } },
      "an enabled export needs a destination",
    ],
    [
      "a destination without id and name",
      { size: 1, telemetry: { export: { otlp: { destination: {} } } } },
      "spec.telemetry.export.otlp.destination: Invalid value",
    ],
  ])("is refused with %s, and the message names the field", async (_what, spec, message) => {
    expect(await refusal(create(spec))).toContain(message);
  });

  test("may turn telemetry off, and refresh without a profile", async () => {
    const spec = { size: 1, refreshOnProfileUpdate: false, telemetry: { enabled: false, browser: {} } };
    expect((await create(spec)).spec).toMatchObject(spec);
  });

  // POOL-3
  test("keeps its region, also a defaulted one", async () => {
    const pool = await create({ size: 1 });
    const patch = plane.kube.patch(browserPoolKind, pool.metadata, { spec: { region: "us-west" } });
    expect(await refusal(patch)).toContain("region is fixed once the pool is created");
    const resized = (await plane.kube.patch(browserPoolKind, pool.metadata, { spec: { size: 3 } })) as BrowserPool;
    expect(resized.spec.size).toBe(3);
  });
});

describe("the status", () => {
  test("is separate from the spec and counts from zero", async () => {
    const pool = await create({ size: 1 });
    expect(pool.status).toBeUndefined();
    const status = { observedGeneration: 1, nextStartTime: "2026-01-02T03:04:05.678Z", acceptedSize: 1 };
    const patched = await plane.kube.patch(
      browserPoolKind,
      pool.metadata,
      { spec: { size: 9 }, status },
      { subresource: "status" },
    );
    expect(patched).toMatchObject({
      spec: { size: 1 },
      status: {
        ...status,
        conditions: [],
        replicas: 0,
        available: 0,
        acquired: 0,
        waiting: 0,
        starting: 0,
        outdated: 0,
        failedStarts: 0,
      },
    });
  });

  test("has one condition per type", async () => {
    const { metadata } = await create({ size: 1 });
    const ready = {
      type: "Ready",
      status: "True",
      reason: "Filled",
      message: "",
      lastTransitionTime: "2026-01-02T03:04:05Z",
    };
    const set = (conditions: object[]) =>
      plane.kube.patch(browserPoolKind, metadata, { status: { conditions } }, { subresource: "status" });
    expect(await refusal(set([ready, ready]))).toContain("status.conditions[1]: Duplicate value");
    expect(await refusal(set([ready, { ...ready, type: "Accepted" }]))).toBe("accepted");
  });
});

describe("kubectl", () => {
  test("applies the sample, scales it and prints the columns", async () => {
    await plane.kubectl("apply", `--filename=${sample}`);
    await plane.kubectl("scale", "bp/demo", "--replicas=5");
    const conditions = [
      { type: "Ready", status: "False", reason: "Filling", message: "", lastTransitionTime: "2026-01-02T03:04:05Z" },
    ];
    const status = {
      replicas: 4,
      acceptedSize: 4,
      available: 3,
      acquired: 1,
      waiting: 2,
      chromiumVersions: [{ version: "156.0.7800.12", browsers: 4 }],
      selector: "browserpool.dev/pool=u",
      conditions,
    };
    await plane.kube.patch(browserPoolKind, { name: "demo", namespace }, { status }, { subresource: "status" });
    expect(await plane.kubectl("get", "browserpool-all", "--output=name")).toContain(
      "browserpool.browserpool.dev/demo",
    );
    const [head = "", row = ""] = (await plane.kubectl("get", "bp", "demo")).trim().split("\n");
    expect(head.split(/\s+/)).toEqual([
      "NAME",
      "SIZE",
      "WANTED",
      "AVAILABLE",
      "ACQUIRED",
      "WAITING",
      "READY",
      "CHROMIUM",
      "SCALING",
      "AGE",
    ]);
    expect(row.split(/\s+/).slice(0, 8)).toEqual(["demo", "5", "4", "3", "1", "2", "False", "156.0.7800.12"]);
    const scale = JSON.parse(await plane.kubectl("get", "bp", "demo", "--subresource=scale", "--output=json"));
    expect(scale).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 4, selector: "browserpool.dev/pool=u" } });
  });

  // POOL-30
  test("shows the size of an autoscaled pool and where it comes from; it can't be scaled by hand, nor by another scaler", async () => {
    const { metadata } = await create({ autoscale: { min: 0, max: 5 } });
    const lastTransitionTime = "2026-01-02T03:04:05Z";
    const limited = { type: "ScalingLimited", status: "True", reason: "AtMax", message: "", lastTransitionTime };
    const status = { acceptedSize: 5, conditions: [limited] };
    await plane.kube.patch(browserPoolKind, metadata, { status }, { subresource: "status" });
    const [head = "", row = ""] = (await plane.kubectl("get", "bp", metadata.name, "-o", "wide")).trim().split("\n");
    const column = (name: string): string => row.slice(head.indexOf(name)).split(/\s+/)[0] ?? "";
    expect([column("WANTED"), column("SCALING")]).toEqual(["5", "AtMax"]);
    const scaling = plane.kubectl("scale", `bp/${metadata.name}`, "--replicas=3");
    await expect(scaling).rejects.toThrow("give exactly one of size and autoscale");
    const patch = plane.kube.patch(browserPoolKind, metadata, { spec: { size: 3 } });
    expect(await refusal(patch)).toContain("give exactly one of size and autoscale");
  });

  test("explains nested fields with their bounds", async () => {
    expect(await plane.kubectl("explain", "bp.spec")).toContain("Seconds without a connection after which");
    expect(await plane.kubectl("explain", "bp.spec.telemetry.browser.control.cdp.excludedMethods")).toContain(
      "CDP methods that are left out",
    );
    expect(await plane.kubectl("explain", "bp.spec.region")).toMatch(/ENUM:\s+us-east\s+us-west/);
  });
});
