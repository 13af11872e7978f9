import { expect, test } from "vitest";
import { readConfig } from "../../config.ts";
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
