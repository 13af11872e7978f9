import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { writeAgentKey } from "../protocol/agent-key.ts";
import { readAgentConfig } from "./agent-config.ts";
import { checkBrowserConfig } from "./check-browser-config.ts";

const base64Key = (type: "ed25519" | "x25519"): string =>
  (type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")).publicKey
    .export({ type: "spki", format: "der" })
    .toString("base64");

const browser = { headless: true, kiosk_mode: false, viewport: { width: 800, height: 600 } };
const env = {
  BROWSERPOOL_BROWSER: JSON.stringify(browser),
  BROWSERPOOL_AGENT_PUBLIC_KEY: base64Key("ed25519"),
  BROWSERPOOL_AGENT_KEY: writeAgentKey(createSecretKey(randomBytes(32))),
  BROWSERPOOL_AGENT_ADDRESS: "127.0.0.9",
  BROWSERPOOL_AGENT_PORT: "7510",
  BROWSERPOOL_POD_UID: "uid",
  BROWSERPOOL_POD_NAME: "pod",
  PATH: "/bin",
  SOMETHING_ELSE: "secret",
};

test("the variables of a pod are enough", () => {
  expect(readAgentConfig(env)).toMatchObject({
    browser,
    address: "127.0.0.9",
    port: 7510,
    podUid: "uid",
    podName: "pod",
    terminationLog: "/dev/termination-log",
    dataDir: tmpdir(),
    programs: { chromium: "chromium", chromiumHeadless: "chromium-headless-shell", xvfb: "Xvfb", ffmpeg: "ffmpeg" },
  });
});

test("chromedriver is where it is told to be, or there is none", () => {
  expect(readAgentConfig(env).programs.chromedriver).toBeUndefined();
  const told = { ...env, BROWSERPOOL_CHROMEDRIVER: "/usr/bin/chromedriver" };
  expect(readAgentConfig(told).programs.chromedriver).toBe("/usr/bin/chromedriver");
});

test("the grace of its pod is told in seconds; not told, there is none", () => {
  expect(readAgentConfig(env).graceMs).toBe(0);
  expect(readAgentConfig({ ...env, BROWSERPOOL_AGENT_GRACE_SECONDS: "600" }).graceMs).toBe(600_000);
});

test("the browser's processes inherit nothing but what they need", () => {
  expect(readAgentConfig(env).inheritedEnv).toEqual({ PATH: "/bin" });
});

test("Chromium's sandbox is kept or left out as told", () => {
  expect(readAgentConfig({ ...env, BROWSERPOOL_CHROMIUM_SANDBOX: "true" }).sandbox).toBe(true);
  expect(readAgentConfig({ ...env, BROWSERPOOL_CHROMIUM_SANDBOX: "false" }).sandbox).toBe(false);
});

// PROC-1
test("holders run processes only where that is told", () => {
  expect(readAgentConfig(env).processes).toBe(false);
  expect(readAgentConfig({ ...env, BROWSERPOOL_PROCESSES: "true" }).processes).toBe(true);
});

test.each([
  ["BROWSERPOOL_BROWSER", undefined, /BROWSERPOOL_BROWSER: is required/],
  ["BROWSERPOOL_BROWSER", "{", /BROWSERPOOL_BROWSER: is not JSON/],
  ["BROWSERPOOL_AGENT_PUBLIC_KEY", "abc", /BROWSERPOOL_AGENT_PUBLIC_KEY: is not .* Ed25519/],
  ["BROWSERPOOL_AGENT_PUBLIC_KEY", base64Key("x25519"), /BROWSERPOOL_AGENT_PUBLIC_KEY: is not .* Ed25519/],
  ["BROWSERPOOL_AGENT_PORT", "70000", /BROWSERPOOL_AGENT_PORT: /],
  ["BROWSERPOOL_AGENT_PORT", "http", /BROWSERPOOL_AGENT_PORT: is not a port number/],
  ["BROWSERPOOL_POD_UID", undefined, /BROWSERPOOL_POD_UID: is required/],
  ["BROWSERPOOL_AGENT_GRACE_SECONDS", "1m", /BROWSERPOOL_AGENT_GRACE_SECONDS: is not a whole number of seconds/],
  ["BROWSERPOOL_PROCESSES", "on", /BROWSERPOOL_PROCESSES: /],
  ["BROWSERPOOL_CHROMIUM_SANDBOX", "yes", /BROWSERPOOL_CHROMIUM_SANDBOX: /],
])("a bad %s (%s) is named in the error", (name, value, message) => {
  expect(() => readAgentConfig({ ...env, [name]: value })).toThrow(message);
});

test("settings that are none of a browser are named in the error", () => {
  expect(() => checkBrowserConfig(readAgentConfig(env))).not.toThrow();
  const bad = readAgentConfig({ ...env, BROWSERPOOL_BROWSER: '{"headless":true}' });
  expect(() => checkBrowserConfig(bad)).toThrow(/BROWSERPOOL_BROWSER\.viewport: /);
});

test("names of tests lead somewhere only outside of a cluster", () => {
  const address = { BROWSERPOOL_TEST_EXAMPLE_ADDRESS: "10.1.2.3" };
  expect(readAgentConfig(env).exampleAddress).toBeUndefined();
  expect(readAgentConfig({ ...env, ...address }).exampleAddress).toBe("10.1.2.3");
  for (const host of ["10.96.0.1", ""])
    expect(() => readAgentConfig({ ...env, ...address, KUBERNETES_SERVICE_HOST: host })).toThrow(
      /BROWSERPOOL_TEST_EXAMPLE_ADDRESS: is for tests outside of clusters only/,
    );
});
