import { expect, test } from "vitest";
import { addressGroup, clientAddressOf } from "./client-address.ts";
import { range } from "./ip-range.ts";

const trusted = [range("10.0.0.0/8"), range("fd00::/8")];
const from = (remote: string, forwardedFor = "", proxies = trusted): string =>
  clientAddressOf({ remote, forwardedFor }, proxies);

// LIMIT-18
test.each<[string, string, string, string]>([
  ["a caller without a proxy", "192.0.2.1", "", "192.0.2.1"],
  ["a caller that invents the header", "192.0.2.1", "203.0.113.9", "192.0.2.1"],
  ["a caller behind a trusted proxy", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
  [
    "a caller that invents entries before those of the proxy",
    "10.0.0.1",
    "1.1.1.1, 10.9.9.9, 203.0.113.9",
    "203.0.113.9",
  ],
  ["a caller behind two trusted proxies", "10.0.0.1", "1.1.1.1, 203.0.113.9 , 10.0.0.2", "203.0.113.9"],
  ["a trusted proxy that calls itself", "10.0.0.1", "", "10.0.0.1"],
  ["nothing but trusted proxies", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["an entry that is no address", "10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"],
  ["an entry with a port", "10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
  ["an IPv6 entry with a port", "fd00::1", "[2001:db8::9]:4711", "2001:db8::9"],
  ["IPv4 on a socket of both families", "::ffff:192.0.2.1", "", "192.0.2.1"],
  ["a trusted proxy on a socket of both families", "::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
  ["a socket that is gone", "", "203.0.113.9", "unknown"],
])("%s has its own address", (_, remote, forwardedFor, address) => {
  expect(from(remote, forwardedFor)).toBe(address);
});

test("without trusted proxies nobody's header counts", () => {
  expect(from("10.0.0.1", "203.0.113.9", [])).toBe("10.0.0.1");
});

test("the addresses of one IPv6 customer count as one, those of IPv4 one by one", () => {
  expect(addressGroup("2001:db8:0:12ff::1")).toBe(addressGroup("2001:db8:0:1200:ffff::2"));
  expect(addressGroup("2001:db8:0:1300::1")).not.toBe(addressGroup("2001:db8:0:1200::1"));
  expect(addressGroup("192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("unknown")).toBe("unknown");
});
