import { expect, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { checkHost, isLoopback } from "./host-check.ts";

const config = readConfig({ BROWSERPOOL_ALLOWED_HOSTS: "10.1.2.3, fd00::7, API.example.com" });

test.each(["10.1.2.3:9090", "[fd00::7]:9090", "api.example.com", "localhost:1", "[::1]:1"])("%s is served", (host) => {
  expect(() => checkHost({ host }, config)).not.toThrow();
});

test.each(["10.1.2.4:9090", "[fd00::8]:9090", "fd00", "example.com", ""])("%s is not", (host) => {
  expect(() => checkHost({ host }, config)).toThrow(/BROWSERPOOL_ALLOWED_HOSTS/);
});

test.each([
  "110.1.2.3:9090",
  "evil-api.example.com",
  "evil.api.example.com",
  "api.example.com.evil.test",
  "my-localhost",
])("%s is not, though it ends or begins like one that is", (host) => {
  expect(() => checkHost({ host }, config)).toThrow(/BROWSERPOOL_ALLOWED_HOSTS/);
});

test("loopback is what only this machine reaches", () => {
  expect(["127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.1.2.3"].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

const host = "api.example.com:8443";
const ofApps = [
  "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb",
  "moz-extension://7b5f5c4e-2b1c-4c57-9d7c-0f4a0a6c8a11",
  "safari-web-extension://7b5f5c4e",
  "vscode-webview://1a2b3c",
  "app://obsidian.md",
  "capacitor://localhost",
];
const ofPages = [
  "https://evil.example",
  "http://api.example.com",
  "null",
  "file://",
  "file:///tmp/a.html",
  "",
  "data:",
  "x",
];

// AUTH-19
test.each(ofApps)("the origin %s is an app's: it may call only where apps may", (origin) => {
  expect(() => checkHost({ host, origin }, config, { takesApps: true })).not.toThrow();
  expect(() => checkHost({ host, origin }, config)).toThrow(/BROWSERPOOL_ALLOWED_ORIGINS/);
});

test.each(ofPages)("a page of the origin %j may call nowhere", (origin) => {
  for (const takesApps of [true, false])
    expect(() => checkHost({ host, origin }, config, { takesApps })).toThrow(/BROWSERPOOL_ALLOWED_ORIGINS/);
});

test("an app whose origin names this host is not this service's own page", () => {
  expect(() => checkHost({ host, origin: `app://${host}` }, config)).toThrow(/BROWSERPOOL_ALLOWED_ORIGINS/);
  for (const own of [`https://${host}`, `http://${host}`])
    expect(() => checkHost({ host, origin: own }, config)).not.toThrow();
});
