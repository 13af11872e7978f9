import type Kernel from "@onkernel/sdk";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { type BrowserPoolAnswer, CreateBrowserPool, UpdateBrowserPool } from "./browser-pool-wire.ts";

const refused = (schema: z.ZodType, value: object): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map((issue) => issue.path.join("."));

// HTTP-27
test("what the public client sends and reads fits", () => {
  expectTypeOf<Kernel.BrowserPoolCreateParams>().toExtend<z.input<typeof CreateBrowserPool>>();
  expectTypeOf<Kernel.BrowserPoolUpdateParams>().toExtend<z.input<typeof UpdateBrowserPool>>();
  expectTypeOf<Required<BrowserPoolAnswer>["browser_pool_config"]["size"]>().toEqualTypeOf<
    Kernel.BrowserPool["browser_pool_config"]["size"]
  >();
});

describe("a request to create", () => {
  // POOL-1, POOL-2
  test("with only a size gets the defaults", () => {
    expect(CreateBrowserPool.parse({ size: 1 })).toEqual({
      size: 1,
      region: "us-east",
      fill_rate_per_minute: 25,
      timeout_seconds: 600,
      headless: false,
      stealth: false,
      kiosk_mode: false,
      memory: "8GiB",
      reuse_policy: "reset",
      serve_on_demand: false,
    });
  });

  // HTTP-6, POOL-PATCH-1
  test("may hold unknown fields, save_changes among them, which are ignored", () => {
    const parsed = CreateBrowserPool.parse({
      size: 1,
      discard_idle: "x",
      other: 1,
      profile: { id: "p", save_changes: true },
    });
    expect(parsed).toMatchObject({ profile: { id: "p" } });
    expect(parsed).not.toHaveProperty("discard_idle");
    expect(parsed.profile).not.toHaveProperty("save_changes");
  });
});

describe("a request to update", () => {
  // POOL-PATCH-15
  test("has no defaults but that of discard_all_idle, so that what is left out stays", () => {
    expect(UpdateBrowserPool.parse({})).toEqual({ discard_all_idle: false });
  });

  test("may clear with empty strings and send telemetry null", () => {
    const body = {
      name: "",
      start_url: "",
      proxy_id: "",
      profile: { id: "" },
      telemetry: null,
      discard_all_idle: true,
    };
    expect(UpdateBrowserPool.parse(body)).toEqual(body);
  });

  // POOL-3
  test("ignores the region, which is fixed", () => {
    expect(UpdateBrowserPool.parse({ region: "mars" })).toEqual({ discard_all_idle: false });
  });

  // LIMIT-1, LIMIT-4, LIMIT-5, LIMIT-7, LIMIT-8
  test.each<[object, string]>([
    [{ size: 0 }, "size"],
    [{ autoscale: { max: 0 } }, "autoscale.max"],
    [{ autoscale: { max: 1, buffer: "x%" } }, "autoscale.buffer"],
    [{ autoscale: { max: 1, buffer: -1 } }, "autoscale.buffer"],
    [{ autoscale: { max: 1, scale_down_after_seconds: 0 } }, "autoscale.scale_down_after_seconds"],
    [{ autoscale: { max: 1, schedule: [{ start: "8:00", end: "18:00" }] } }, "autoscale.schedule.0.start"],
    [{ size: 1.5 }, "size"],
    [{ size: null }, "size"],
    [{ fill_rate_per_minute: -0.1 }, "fill_rate_per_minute"],
    [{ timeout_seconds: 9 }, "timeout_seconds"],
    [{ timeout_seconds: 259201 }, "timeout_seconds"],
    [{ name: "a b" }, "name"],
    [{ name: "a".repeat(256) }, "name"],
    [{ memory: "4GiB" }, "memory"],
    [{ start_url: `data:,${"a".repeat(2043)}` }, "start_url"],
    [{ chrome_policy: [] }, "chrome_policy"],
    [{ extensions: Array.from({ length: 21 }, () => ({ id: "a" })) }, "extensions"],
    [{ viewport: { width: 1 } }, "viewport.height"],
    [{ viewport: { width: 1, height: 1, refresh_rate: 0 } }, "viewport.refresh_rate"],
    [{ network: { private_hosts: ["a".repeat(256)] } }, "network.private_hosts.0"],
    [{ network: { private_hosts: Array.from({ length: 33 }, () => "a") } }, "network.private_hosts"],
    [{ network: { allowedHosts: ["a.test"] } }, "network"],
    [{ telemetry: { browser: { page: { enabled: "yes" } } } }, "telemetry.browser.page.enabled"],
    [{ discard_all_idle: "true" }, "discard_all_idle"],
  ])("is refused with %j, naming the field", (body, path) => {
    expect(refused(UpdateBrowserPool, body)).toEqual([path]);
  });
});
