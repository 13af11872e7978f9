import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostPatternProblem, namesLoopback, privateHostProblem } from "./host-pattern.ts";

describe("private hosts", () => {
  // NETWORK-2
  test.each([
    "db",
    "db.internal",
    "DB.Internal:5432",
    "my_host.corp.example",
    "*.internal",
    "*.svc.cluster.local:8080",
    "10.0.0.1",
    "172.31.255.255",
    "192.168.1.1:80",
    "100.64.0.1",
    "100.127.255.255",
    "[fd00::5]",
    "[fdff:ffff::1]:65535",
    ...["127.0.0.1", "127.0.0.0/8", "[::1]:80", "::1/128", "localhost", "app.localhost:3000", "*.localhost"],
    "[fd00::10.0.0.1]",
    "10.0.0.0/8",
    "10.1.0.0/16",
    "192.168.1.7/32",
    "100.64.0.0/10",
    "fc00::/7",
    "fd12:3456::/32",
  ])("may be %s", (text) => {
    expect(privateHostProblem(text)).toBeUndefined();
  });

  // NETWORK-2, NETWORK-3
  test.each([
    ["8.8.8.8", "must be private"],
    ["172.32.0.1", "must be private"],
    ["100.128.0.1", "must be private"],
    ["11.0.0.0/8", "must be private"],
    ["10.0.0.0/7", "must be private"],
    ["0.0.0.0/0", "must be private"],
    ["[2001:db8::1]", "must be private"],
    ["::/0", "must be private"],
    ["[::ffff:10.0.0.1]", "must be private"],
    ["[::10.0.0.1]", "must be private"],
    ["[::127.0.0.1]", "must be private"],
    ["[::ffff:127.0.0.1]", "loopback"],
    ["169.254.169.254", "link-local"],
    ["169.254.0.0/16", "link-local"],
    ["[fe80::1]", "link-local"],
    ["fe80::/10", "link-local"],
    ["http://db.internal", "without a scheme"],
    ["https://10.0.0.1/", "without a scheme"],
    ["db.internal/path", "without a path"],
    ["10.0.0.1/path", "without a path"],
    ["[fd00::1]/x", "without a path"],
    ["*", "catches everything"],
    ["*.", "catches everything"],
    ["*.*", "catches everything"],
    ["*:80", "catches everything"],
    ["db.*.internal", "only one leading"],
    ["*db.internal", "only one leading"],
    ["*.*.internal", "only one leading"],
    ["10.0.0.0/8:80", "takes no port"],
    ["fd00::/8:80", "takes no port"],
    ["10.0.0.1/8", "host bits"],
    ["fd00::1/64", "host bits"],
    ["10.0.0.0/33", "not a CIDR range"],
    ["10.0.0.0/08", "not a CIDR range"],
    ["10.0.0/8", "not a CIDR range"],
    ["[fd00::]/8", "not a CIDR range"],
    ["10.0.0.0/", "not a CIDR range"],
    ["fd00::1", "in brackets"],
    ["[10.0.0.1]", "not an IPv6 address"],
    ["[fd00::1%eth0]", "not an IPv6 address"],
    ["[fd00::1", "not an IPv6 address"],
    ["[fd00::00001]", "not an IPv6 address"],
    ["[fd00::010.0.0.1]", "not an IPv6 address"],
    ["[fd00::1]x", "not an IPv6 address"],
    ["db:0", "port"],
    ["db:65536", "port"],
    ["db:", "port"],
    ["db:080", "port"],
    ["10.0.0", "not an IPv4 address"],
    ["10.1", "not an IPv4 address"],
    ["010.0.0.1", "not an IPv4 address"],
    ["2130706433", "not an IPv4 address"],
    ["0x7f000001", "not an IPv4 address"],
    ["", "empty"],
    ["a b", "spaces"],
    ["a\n", "spaces"],
    ["-a.test", "not a host name"],
    ["a..b", "not a host name"],
    ["bücher.test", "xn--"],
    [`${"a".repeat(64)}.test`, "not a host name"],
  ])("may not be %s", (text, message) => {
    expect(privateHostProblem(text)).toContain(message);
  });

  // NETWORK-2, NETWORK-3
  test("may be any address of the private ranges and of loopback, and none outside, whatever its notation", () => {
    const isPrivate = ([a, b]: number[]): boolean =>
      a === 10 ||
      a === 127 ||
      (a === 172 && b !== undefined && b >> 4 === 1) ||
      (a === 192 && b === 168) ||
      (a === 100 && b !== undefined && b >> 6 === 1);
    const first = fc.constantFrom(10, 100, 172, 192, 11, 169, 127);
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(first, octet, octet, octet, (...bytes) => {
        expect(privateHostProblem(bytes.join(".")) === undefined).toBe(isPrivate(bytes));
        expect(privateHostProblem(`${bytes.join(".")}/32`) === undefined).toBe(isPrivate(bytes));
      }),
    );
  });

  test("may be any canonical IPv6 range inside fc00::/7", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.integer({ min: 0xfb00, max: 0xfeff }), group, (first, second) => {
        const inside = first >= 0xfc00 && first <= 0xfdff;
        const text = `${first.toString(16)}:${second.toString(16)}::/32`;
        expect(privateHostProblem(text) === undefined).toBe(inside);
      }),
    );
  });

  test("of any text are judged without an exception", () => {
    // Fails by an exception: fast-check then names the text.
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void privateHostProblem(text)));
    fc.assert(fc.property(fc.stringMatching(/^[0-9a-f:.[\]/*]*$/), (text) => void privateHostProblem(text)));
  });
});

describe("allowed hosts and hosts of proxy routes", () => {
  test.each(["example.com", "*.example.com", "*", "example.com:8443", "8.8.8.8", "[2001:db8::1]:443", "localhost"])(
    "may be %s",
    (text) => {
      expect(hostPatternProblem(text)).toBeUndefined();
    },
  );

  // NETWORK-1
  test.each([
    ["10.0.0.0/8", "not a CIDR range"],
    ["https://example.com", "without a scheme"],
    ["example.com/path", "without a path"],
    ["ex*mple.com", "only one leading"],
  ])("may not be %s", (text, message) => {
    expect(hostPatternProblem(text)).toContain(message);
  });
});

describe("what is on loopback", () => {
  test.each([
    "127.0.0.1",
    "127.9.9.9:80",
    "127.0.0.0/8",
    "[::1]:80",
    "::1",
    "::1/128",
    "localhost",
    "LOCALHOST:3000",
    "*.localhost",
  ])("%s is", (text) => expect(namesLoopback(text)).toBe(true));
  test.each(["10.0.0.1", "128.0.0.1", "0.0.0.0/0", "[fd00::1]", "localhost.example", "notlocalhost", "*.example"])(
    "%s is not",
    (text) => expect(namesLoopback(text)).toBe(false),
  );
});
