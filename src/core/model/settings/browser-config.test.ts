import { describe, expect, test } from "vitest";
import { BrowserSpec } from "../browsers/browser.ts";
import { onDemandPoolSpec, type PoolLikeSpec } from "../browsers/on-demand-pool.ts";
import { BrowserPoolSpec } from "../pools/browser-pool.ts";
import { agentConfigOf, configHash, sessionConfigOf } from "./browser-config.ts";

const spec = (fields: Partial<BrowserPoolSpec> = {}): BrowserPoolSpec => BrowserPoolSpec.parse({ size: 1, ...fields });

describe("the hash of a configuration", () => {
  // POOL-20
  test.each<[string, Partial<BrowserPoolSpec>]>([
    ["headless", { headless: true }],
    ["stealth", { stealth: true }],
    ["kiosk mode", { kioskMode: true }],
    ["memory", { memory: "16GiB" }],
    ["viewport", { viewport: { width: 800, height: 600 } }],
    ["start URL", { startUrl: "https://example.com" }],
    ["proxy", { proxyId: "p" }],
    ["profile", { profile: { name: "p" } }],
    ["extensions", { extensions: [{ name: "e" }] }],
    ["policy", { chromePolicy: { HomepageLocation: "https://example.com" } }],
    ["policy outside the pool", { chromePolicyRef: { sha256: "a".repeat(64), configMaps: ["c"] } }],
    ["network", { network: { allowedHosts: ["example.com"] } }],
    ["telemetry", { telemetry: { enabled: true } }],
  ])("changes with what makes a browser: %s", (_, fields) => {
    expect(configHash(spec(fields))).not.toBe(configHash(spec()));
  });

  test.each<[string, Partial<BrowserPoolSpec>]>([
    ["size", { size: 9 }],
    ["fill rate", { fillRatePerMinute: 1 }],
    ["idle timeout", { timeoutSeconds: 60 }],
    ["name", { name: "other" }],
    ["discard token", { discardIdle: "t" }],
  ])("stays with what only the pool knows: %s", (_, fields) => {
    expect(configHash(spec(fields))).toBe(configHash(spec()));
  });

  test("does not depend on the order of keys, but on that of lists", () => {
    const policy = (chromePolicy: Record<string, unknown>): string => configHash(spec({ chromePolicy }));
    expect(policy({ A: { x: 1, y: 2 }, B: 1 })).toBe(policy({ B: 1, A: { y: 2, x: 1 } }));
    expect(policy({ A: [1, 2] })).not.toBe(policy({ A: [2, 1] }));
  });

  test("goes by the content of a policy outside the pool, not by where it is kept", () => {
    const hash = (digit: string, configMap: string): string =>
      configHash(spec({ chromePolicyRef: { sha256: digit.repeat(64), configMaps: [configMap] } }));
    expect(hash("a", "first")).toBe(hash("a", "second"));
    expect(hash("a", "first")).not.toBe(hash("b", "first"));
  });

  test("is the same for a default, written or left out", () => {
    expect(configHash(spec({ viewport: { width: 1920, height: 1080 } }))).toBe(configHash(spec()));
  });
});

test("a session is told the resolved configuration as it travels", () => {
  expect(sessionConfigOf(spec({ kioskMode: true, startUrl: "https://example.com" }))).toMatchObject({
    kiosk_mode: true,
    start_url: "https://example.com",
    viewport: { width: 1920, height: 1080, refresh_rate: 25 },
  });
});

test("a session's configuration has the hash alone of a policy that is kept outside the pool", () => {
  const config = sessionConfigOf(spec({ chromePolicyRef: { sha256: "a".repeat(64), configMaps: ["c"] } }));
  expect(config).toMatchObject({ chrome_policy_sha256: "a".repeat(64) });
  expect(JSON.stringify(config)).not.toContain("config_maps");
});

test("the agent is told what it needs to start its browser", () => {
  expect(agentConfigOf(spec({ headless: true, viewport: { width: 1280, height: 800 } }))).toEqual({
    headless: true,
    kiosk_mode: false,
    viewport: { width: 1280, height: 800, refresh_rate: 60 },
  });
});

// BROWSER-21
test("the agent is told of stealth", () => {
  expect(agentConfigOf(spec({ stealth: true }))).toMatchObject({ stealth: true });
});

// BROWSER-23
test("an on-demand browser with a GPU is another configuration, and its agent is told", () => {
  const [plain, gpu] = [false, true].map((gpu) => onDemandPoolSpec(BrowserSpec.parse({ gpu })));
  expect(configHash(gpu as PoolLikeSpec)).not.toBe(configHash(plain as PoolLikeSpec));
  expect(agentConfigOf(plain as PoolLikeSpec)).not.toHaveProperty("gpu");
  expect(agentConfigOf(gpu as PoolLikeSpec)).toMatchObject({ gpu: true, viewport: { refresh_rate: 60 } });
});
