import { expect, test } from "vitest";
import { hostPort, splitHostPort, urlHost } from "./host-port.ts";

test.each([
  ["10.0.0.5", "10.0.0.5:7510"],
  ["fd00::5", "[fd00::5]:7510"],
  ["::1", "[::1]:7510"],
  ["::ffff:10.0.0.5", "[::ffff:10.0.0.5]:7510"],
  ["browserpool-redis", "browserpool-redis:7510"],
])("%s and a port are %s, and come apart again", (host, text) => {
  expect(hostPort(host, 7510)).toBe(text);
  expect(splitHostPort(text)).toEqual({ host, port: 7510 });
  expect(new URL(`http://${text}/`).host).toBe(new URL(`http://${urlHost(host)}:7510`).host);
});

test("an address in brackets stays as it is", () => expect(urlHost("[fd00::5]")).toBe("[fd00::5]"));
