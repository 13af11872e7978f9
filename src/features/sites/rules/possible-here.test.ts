import { expect, test } from "vitest";
import { gatewayOf } from "../../proxies/rules/proxy-provider.ts";
import type { Recipe } from "../site-recipe.ts";
import { type Installation, isPossibleHere } from "./possible-here.ts";

const viewport = { width: 1920, height: 1080 };
const recipe = (browser: Partial<Recipe["browser"]>, proxy?: Recipe["proxy"]): Recipe => ({
  browser: { stealth: false, headless: true, gpu: false, viewport, ...browser },
  ...(proxy && { proxy }),
});

const isp = gatewayOf({ host: "proxy.example", port: 3128, protocol: "http", username: "a[-cc-{country}]" }, {});
const whole: Installation = { browserFeatures: ["network", "gpu"], proxyProvider: { isp } };
const bare: Installation = { browserFeatures: [], proxyProvider: {} };
const withoutWall: Installation = { browserFeatures: ["gpu"], proxyProvider: { isp } };

const gpu = recipe({ headless: false, gpu: true });
const byIsp = recipe({}, { type: "isp", isp: { country: "DE" } });

// LOOKUP-92
test.each<[string, Recipe, Installation, boolean]>([
  ["a plain browser", recipe({}), bare, true],
  ["a browser with a display", recipe({ headless: false, stealth: true }), bare, true],
  ["a GPU", gpu, whole, true],
  ["a GPU where there is none", gpu, bare, false],
  ["a GPU without a display", recipe({ headless: true, gpu: true }), whole, false],
  ["a proxy of the provider", byIsp, whole, true],
  ["a proxy without a provider", byIsp, { ...whole, proxyProvider: {} }, false],
  ["a proxy without network rules", byIsp, withoutWall, false],
  ["a proxy of another type", recipe({}, { type: "mobile", mobile: { country: "DE" } }), whole, false],
  ["another protocol than the provider's", recipe({}, { type: "isp", protocol: "https" }), whole, false],
])("%s is possible or not as POST /browsers says", (_name, asked, installation, isPossible) => {
  expect(isPossibleHere(asked, installation)).toBe(isPossible);
});
