import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeError } from "../../src/kube/kube-error.ts";
import { type BrowserPool, browserPoolKind } from "../../src/resources/browser-pool.ts";
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
      startUrl: "chrome://version",
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

  // POOL-24, LIMIT-8
  test.each<[string, object, string]>([
    ["no size", {}, "spec.size: Required value"],
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
      available: 3,
      acquired: 1,
      waiting: 2,
      selector: "browserpool.dev/pool=u",
      conditions,
    };
    await plane.kube.patch(browserPoolKind, { name: "demo", namespace }, { status }, { subresource: "status" });
    expect(await plane.kubectl("get", "browserpool-all", "--output=name")).toContain(
      "browserpool.browserpool.dev/demo",
    );
    const [head = "", row = ""] = (await plane.kubectl("get", "bp", "demo")).trim().split("\n");
    expect(head.split(/\s+/)).toEqual(["NAME", "SIZE", "AVAILABLE", "ACQUIRED", "WAITING", "READY", "AGE"]);
    expect(row.split(/\s+/).slice(0, 6)).toEqual(["demo", "5", "3", "1", "2", "False"]);
    const scale = JSON.parse(await plane.kubectl("get", "bp", "demo", "--subresource=scale", "--output=json"));
    expect(scale).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 4, selector: "browserpool.dev/pool=u" } });
  });

  test("explains nested fields with their bounds", async () => {
    expect(await plane.kubectl("explain", "bp.spec")).toContain("Seconds without a connection after which");
    expect(await plane.kubectl("explain", "bp.spec.telemetry.browser.control.cdp.excludedMethods")).toContain(
      "CDP methods that are left out",
    );
    expect(await plane.kubectl("explain", "bp.spec.region")).toMatch(/ENUM:\s+us-east\s+us-west/);
  });
});
