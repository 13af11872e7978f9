import { describe, expect, test } from "vitest";
import { BrowserSpec } from "../../../core/model/browsers/browser.ts";
import { onDemandPoolSpec, type PoolLikeSpec } from "../../../core/model/browsers/on-demand-pool.ts";
import type { ProxySpec } from "../../proxies/proxy.ts";
import { sessionRecipe } from "./session-recipe.ts";
import { recipeKey } from "./site.ts";

const spec = (fields: object = {}): PoolLikeSpec => ({
  ...onDemandPoolSpec(BrowserSpec.parse({ headless: true })),
  ...fields,
});
const plain = { browser: { stealth: false, headless: true, gpu: false, viewport: { width: 1920, height: 1080 } } };

// LOOKUP-84
describe("the configuration of a session", () => {
  test.each<[string, object]>([
    ["without a viewport", {}],
    ["with the usual one", { viewport: { width: 1920, height: 1080 } }],
    ["with the usual refresh rate", { viewport: { width: 1920, height: 1080, refreshRate: 25 } }],
    ["with what no site sees", { startUrl: "https://a.example/", timeoutSeconds: 90, telemetry: { enabled: true } }],
  ])("%s is the one that trials use", (_name, fields) => expect(sessionRecipe(spec(fields), undefined)).toEqual(plain));

  test("has another refresh rate, stealth and a GPU where the browser has", () => {
    const viewport = { width: 1280, height: 800, refreshRate: 30 };
    expect(sessionRecipe(spec({ viewport, stealth: true, headless: false, gpu: true }), undefined)).toEqual({
      browser: { stealth: true, headless: false, gpu: true, viewport },
    });
  });

  test("has a managed proxy, however it is spelled", () => {
    const proxy: ProxySpec = { name: "mine", type: "isp" };
    const found = sessionRecipe(spec({ proxyId: "p" }), proxy);
    expect(found).toEqual({ ...plain, proxy: { type: "isp", isp: { country: "US" } } });
    expect(found && recipeKey(found)).toBe(recipeKey({ ...plain, proxy: { type: "isp" } }));
  });

  test.each<[string, object]>([
    ["kiosk mode", { kioskMode: true }],
    ["more memory", { memory: "16GiB" }],
    ["a policy", { chromePolicy: { BookmarkBarEnabled: false } }],
    ["a policy that is stored apart", { chromePolicyRef: { sha256: "0", configMaps: [] } }],
    ["extensions", { extensions: [{ id: "e" }] }],
    ["a profile", { profile: { id: "p" } }],
    ["network rules", { network: { privateHosts: [] } }],
    ["browsers that are handed on with what holders left", { reusePolicy: "keep" }],
    ["a proxy that is gone", { proxyId: "p" }],
  ])("with %s is none", (_name, fields) => expect(sessionRecipe(spec(fields), undefined)).toBeUndefined());

  test.each<[string, ProxySpec]>([
    ["a server of the project's own", { type: "custom", custom: { host: "h", port: 1 } as never }],
    ["a proxy that some hosts bypass", { type: "isp", bypassHosts: ["*.shop.example"] }],
  ])("with %s is none", (_name, proxy) => expect(sessionRecipe(spec({ proxyId: "p" }), proxy)).toBeUndefined());
});
