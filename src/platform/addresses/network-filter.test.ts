import { describe, expect, test } from "vitest";
import { parseAddress } from "./ip-range.ts";
import { canonicalHost, createNetworkFilter, createOpenFilter, type NetworkRules } from "./network-filter.ts";

/** What the filter says of a host as URLs have it. */
const checked = (text: string, rules: NetworkRules = {}, port = 80): string | undefined => {
  const host = canonicalHost(text);
  if (!host) throw new Error(`${text} is no host`);
  return createNetworkFilter(rules).host({ ...host, port });
};

/** What the filter says of one address that a name has. */
const allowedAddress = (text: string, rules: NetworkRules = {}, host = "a.example"): string | undefined => {
  const address = parseAddress(text);
  if (!address) throw new Error(`${text} is no address`);
  return createNetworkFilter(rules).address({ host, address: undefined, port: 80 }, address);
};

const everything: NetworkRules = { allowedHosts: ["*"], privateHosts: ["10.0.0.0/8", "fc00::/7"] };

// NETWORK-10
describe("whatever the rules say, no browser reaches", () => {
  test.each([
    ...["127.0.0.1", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0177.0.0.1", "017700000001", "0x7f.1"],
    ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:7f00:1]"],
    ...["[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:0001::1]"],
    ...["0.0.0.0", "0", "0.1.2.3", "[::]", "[::ffff:0.0.0.0]"],
    ...["169.254.169.254", "169.254.170.2", "0xa9fea9fe", "2852039166", "[::ffff:169.254.169.254]"],
    ...["[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[fe80::1]", "[febf::1]", "[fec0::1]"],
    ...["100.100.100.200", "168.63.129.16", "192.0.0.192", "[fd00:ec2::254]", "[fd20:ce::254]"],
    ...["[::ffff:100.100.100.200]", "[64:ff9b::100.100.100.200]", "[2002:6464:64c8::]"],
    ...["224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "[ff02::1]", "198.18.0.1"],
    ...["[2001::1]", "[2001:0:7f00:1::]", "[100::1]", "１２７．０．０．１", "127。0。0。1"],
    ...["metadata.google.internal", "METADATA.google.internal.", "metadata", "instance-data.ec2.internal"],
  ])("%s", (text) => {
    expect(checked(text, everything)).toMatch(/never reached/);
  });

  test.each([
    ...["127.0.0.1", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::"],
    ...["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "::", "224.0.0.1", "fe80::1"],
  ])("a name that has the address %s", (text) => {
    expect(allowedAddress(text, everything)).toMatch(/never reached/);
    expect(allowedAddress(text, { privateHosts: ["a.example"] })).toMatch(/never reached/);
  });
});

test.each(["1.1.1.1", "93.184.216.34", "[2606:4700::1111]", "example.com", "[64:ff9b::1.1.1.1]", "a.metadata.example"])(
  "without rules, %s is reached",
  (text) => {
    expect(checked(text)).toBeUndefined();
  },
);

// NETWORK-6
describe("allowed_hosts", () => {
  const rules = {
    allowedHosts: ["example.com", "*.wild.example", "9.9.9.9", "port.example:8443", "[2606:4700::1111]"],
  };
  test.each([
    "example.com",
    "EXAMPLE.com",
    "example.com.",
    "a.wild.example",
    "a.b.wild.example",
    "9.9.9.9",
    "[2606:4700::1111]",
  ])("let %s pass", (text) => expect(checked(text, rules)).toBeUndefined());
  test.each([
    ...["wild.example", "a.example.com", "notexample.com", "example.com.evil.example", "evilwild.example", "9.9.9.8"],
    ...["[::ffff:9.9.9.9]", "[2606:4700::1112]", "port.example", "example"],
  ])("refuse %s", (text) => expect(checked(text, rules)).toBe("the host is not in allowed_hosts"));
  test("know ports", () => {
    expect(checked("port.example", rules, 8443)).toBeUndefined();
    expect(checked("port.example", rules, 8444)).toBe("the host is not in allowed_hosts");
  });
  test("that are empty refuse everything", () => {
    expect(checked("example.com", { allowedHosts: [] })).toBe("the host is not in allowed_hosts");
  });
});

// NETWORK-7
describe("private_hosts", () => {
  const privates = [
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "fd00::1",
    "::ffff:10.1.2.3",
    "64:ff9b::10.1.2.3",
    "2002:a01:203::",
  ];
  const refused = "the address is private and not in private_hosts";
  test.each(privates)("left out, %s is reached", (text) => expect(allowedAddress(text)).toBeUndefined());
  test.each(privates)("that are empty keep from %s", (text) => {
    expect(allowedAddress(text, { privateHosts: [] })).toBe(refused);
    expect(checked(text.includes(":") ? `[${text}]` : text, { privateHosts: [] })).toBe(refused);
  });
  test.each(["172.32.0.1", "100.128.0.1", "11.0.0.1", "8.8.8.8"])(
    "that are empty let %s pass, which is public",
    (text) => expect(allowedAddress(text, { privateHosts: [] })).toBeUndefined(),
  );
  test("replace the default ranges", () => {
    const rules = { privateHosts: ["10.1.0.0/16", "[fd00::5]:8080", "192.168.7.7:80"] };
    expect(allowedAddress("10.1.2.3", rules)).toBeUndefined();
    expect(allowedAddress("::ffff:10.1.2.3", rules)).toBeUndefined();
    expect(allowedAddress("10.2.0.1", rules)).toBe(refused);
    expect(allowedAddress("192.168.7.7", rules)).toBeUndefined();
    expect(allowedAddress("192.168.7.8", rules)).toBe(refused);
    expect(checked("[fd00::5]", rules, 8080)).toBeUndefined();
    expect(checked("[fd00::5]", rules, 8081)).toBe(refused);
  });
  test("can be names, whose private addresses are then reached under that name alone", () => {
    const rules = { privateHosts: ["db.internal", "*.svc.internal"] };
    expect(allowedAddress("10.1.2.3", rules, "db.internal")).toBeUndefined();
    expect(allowedAddress("10.1.2.3", rules, "a.svc.internal")).toBeUndefined();
    expect(allowedAddress("10.1.2.3", rules, "svc.internal")).toBe(refused);
    expect(allowedAddress("10.1.2.3", rules, "evil.example")).toBe(refused);
    expect(checked("10.1.2.3", rules)).toBe(refused);
  });
});

test.each([
  "",
  "a b",
  "a/b",
  "a@b",
  "a#b",
  "a?b",
  "a\\b",
  "[::1",
  "[::1%eth0]",
  "1.2.3.4.5",
  "256.1.1.1",
  "a%2fb",
  "a:81",
  "a.example..",
  "a..example",
  ".a.example",
  ".",
  "169.254.169.254..",
])("%j is no host", (text) => expect(canonicalHost(text)).toBeUndefined());

// NETWORK-13, NETWORK-14
describe("in local mode", () => {
  const machine: NetworkRules = { ownPorts: [6379], privateHosts: ["localhost:3000", "127.0.0.0/8", "[::1]"] };
  test.each(["127.0.0.1", "127.9.9.9", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"])(
    "%s is reached on other ports than the service's, where private_hosts names it",
    (host) => expect(checked(host, machine, 3000)).toBeUndefined(),
  );
  test.each(["127.0.0.1", "0x7f.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])(
    "%s is not reached on a port of the service",
    (host) => expect(checked(host, machine, 6379)).toContain("a port of the service"),
  );
  test("a name whose address is loopback is not reached on a port of the service, whatever the name", () => {
    const address = parseAddress("127.0.0.1");
    if (!address) throw new Error("no address");
    const target = { host: "localhost", address: undefined, port: 6379 };
    expect(createNetworkFilter(machine).address(target, address)).toContain("a port of the service");
    expect(createOpenFilter([6379]).address(target, address)).toContain("a port of the service");
  });
  test.each([undefined, [], ["10.0.0.0/8"]])("private_hosts %j does not mean loopback", (privateHosts) => {
    for (const host of ["127.0.0.1", "[::1]"])
      expect(checked(host, { ownPorts: [6379], privateHosts }, 3000)).toContain("not in private_hosts");
  });
  test.each(["0.0.0.0", "169.254.169.254", "[fe80::1]", "224.0.0.1"])("%s is still never reached", (host) =>
    expect(checked(host, machine, 3000)).toContain("never reached"),
  );
  const open = (host: string, port: number): string | undefined => {
    const found = canonicalHost(host);
    return found && createOpenFilter([6379]).host({ ...found, port });
  };
  test.each(["127.0.0.1", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "127.255.0.1", "0", "[::ffff:0.0.0.0]"])(
    "without rules, %s is reached but for the service's ports",
    (host) => {
      expect(open(host, 3000)).toBeUndefined();
      expect(open(host, 6379)).toContain("a port of the service");
    },
  );
  test("without rules, the same port of another machine is reached", () =>
    expect(open("10.0.0.1", 6379)).toBeUndefined());
});
