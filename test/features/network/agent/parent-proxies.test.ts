/** The wall's proxy and the proxies behind it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../../../support/wall/machine.ts";
import { startTestParent, type TestParentOptions } from "../../../support/wall/parent-proxy.ts";
import { startRawServer, startTestProxy } from "../../../support/wall/proxy-client.ts";
import { createTestCa, type TestCa } from "../../../support/wall/test-ca.ts";

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
const get = (url: string): string => `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const through = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n`;

let ca: TestCa;
beforeAll(async () => {
  ca = await createTestCa();
});
afterAll(() => ca[Symbol.asyncDispose]());

const password = "s3cr:et@päss";
const credentials = { username: "user", password };

// NETWORK-8
describe.each([
  ["http", {}],
  ["https", { ca: true }],
  ["http, with a password", { password: true }],
  ["https, with a password", { ca: true, password: true }],
] as const)("a parent proxy over %s", (_, how: { ca?: boolean; password?: boolean }) => {
  const parentOptions = async (): Promise<TestParentOptions> => ({
    ...(how.ca && { tls: await ca.issue(["proxy.example", ownAddress]) }),
    ...(how.password && { credentials: `user:${password}` }),
    names: ownAddress,
  });
  const setup = (port: number, more: Record<string, unknown> = {}) => ({
    proxy: "p",
    proxies: [
      {
        id: "p",
        protocol: how.ca ? ("https" as const) : ("http" as const),
        host: ownAddress,
        port,
        ...(how.ca && { ca_bundle: ca.certificate }),
        ...(how.password && credentials),
        ...more,
      },
    ],
  });

  test("takes requests and tunnels, with names as they are", async () => {
    await using server = await startRawServer((socket) => socket.end(hello));
    await using parent = await startTestParent(await parentOptions());
    await using proxy = await startTestProxy(setup(parent.port));
    expect(await proxy.send(get(`http://some.example:${server.port}/a?b`))).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*hello$/);
    expect(await proxy.send(through(`some.example:${server.port}`))).toMatch(
      /^HTTP\/1\.1 200 OK\r\n\r\nHTTP[\s\S]*hello$/,
    );
    expect(parent.asked).toEqual([`GET http://some.example:${server.port}/a?b`, `CONNECT some.example:${server.port}`]);
    // The parent's password is not for servers.
    expect(server.received.join("")).not.toMatch(/proxy-authorization/i);
  });

  test("is not used for the hosts that bypass it", async () => {
    await using server = await startRawServer((socket) => socket.end(hello));
    await using parent = await startTestParent(await parentOptions());
    await using proxy = await startTestProxy(
      setup(parent.port, { bypass_hosts: ["*.direct.example", ownAddress] }),
      async () => [ownAddress],
    );
    for (const host of [`a.direct.example:${server.port}`, server.host]) {
      expect(await proxy.send(get(`http://${host}/`))).toMatch(/hello$/);
      expect(await proxy.send(through(host))).toMatch(/hello$/);
    }
    expect(parent.asked).toEqual([]);
    expect(server.received.join("")).not.toMatch(/proxy-authorization/i);
    await proxy.send(get(`http://direct.example:${server.port}/`));
    expect(parent.asked).toEqual([`GET http://direct.example:${server.port}/`]);
  });

  test("can't be reached: 502", async () => {
    await using proxy = await startTestProxy(setup(1));
    expect(await proxy.send(get("http://some.example/"))).toMatch(/^HTTP\/1\.1 502 /);
    expect(await proxy.send(through("some.example:443"))).toMatch(/^HTTP\/1\.1 502 /);
  });
});

test("a wrong password is told of, and is no question to the browser", async () => {
  await using parent = await startTestParent({ credentials: "user:right" });
  await using proxy = await startTestProxy({
    proxy: "p",
    proxies: [{ id: "p", protocol: "http", host: ownAddress, port: parent.port, username: "user", password: "wrong" }],
  });
  for (const text of [get("http://some.example/"), through("some.example:443")]) {
    const answer = await proxy.send(text);
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*the proxy refuses the user name or password/);
    expect(answer).not.toMatch(/authenticate|wrong/i);
  }
});

test("a parent whose certificate nobody has signed, or for another name, gets no request and no password", async () => {
  const names = async (): Promise<string[]> => [ownAddress];
  for (const [issued, host, bundle] of [
    ["proxy.example", "proxy.example", undefined],
    ["other.example", "proxy.example", ca.certificate],
  ] as const) {
    await using parent = await startTestParent({ tls: await ca.issue([issued]) });
    const one = { id: "p", protocol: "https" as const, host, port: parent.port, ...credentials };
    await using proxy = await startTestProxy(
      { proxy: "p", proxies: [{ ...one, ...(bundle && { ca_bundle: bundle }) }] },
      names,
    );
    expect(await proxy.send(get("http://some.example/"))).toMatch(/^HTTP\/1\.1 502 /);
    expect(parent.asked).toEqual([]);
  }
});

// NETWORK-10
test.each([
  "127.0.0.1",
  "localhost",
  "2130706433",
  "::1",
  "169.254.169.254",
  "metadata.google.internal",
  "fd00:ec2::254",
  "evil.example",
])("a parent at %s is never asked", async (host) => {
  await using proxy = await startTestProxy(
    { proxy: "p", proxies: [{ id: "p", protocol: "http", host, port: 80 }] },
    async () => ["127.0.0.1"],
  );
  expect(await proxy.send(get("http://some.example/"))).toMatch(/^HTTP\/1\.1 (403|502) /);
});

// NETWORK-8
test("the first route that matches counts, and the proxy for what no route takes", async () => {
  await using one = await startTestParent();
  await using two = await startTestParent();
  await using rest = await startTestParent();
  const parent = (id: string, port: number) => ({ id, protocol: "http" as const, host: ownAddress, port });
  await using proxy = await startTestProxy({
    proxy: "rest",
    proxies: [parent("one", one.port), parent("two", two.port), parent("rest", rest.port)],
    routes: [
      { hosts: ["a.example", "*.b.example"], proxy: "one" },
      { hosts: ["*.b.example", "c.example:81"], proxy: "two" },
      { hosts: ["b.example"], proxy: "two" },
    ],
  });
  for (const host of ["a.example", "x.b.example", "b.example", "c.example", "c.example:81", "9.9.9.9"])
    await proxy.send(get(`http://${host}/`));
  expect(one.asked).toEqual(["GET http://a.example/", "GET http://x.b.example/"]);
  expect(two.asked).toEqual(["GET http://b.example/", "GET http://c.example:81/"]);
  expect(rest.asked).toEqual(["GET http://c.example/", "GET http://9.9.9.9/"]);
});

// NETWORK-6, NETWORK-10, NETWORK-11
test.each([
  ["beyond allowed_hosts", "other.example", []],
  ["on loopback", "127.0.0.1", []],
  ["on loopback, in NAT64", "[64:ff9b::7f00:1]", []],
  ["with a name for loopback", "allowed.example", ["9.9.9.9", "127.0.0.1"]],
  ["with a name for a metadata service", "allowed.example", ["169.254.169.254"]],
  ["of metadata", "metadata.google.internal", []],
  ["in a private network that is not allowed", "10.0.0.1", []],
])("a parent proxy is not asked for a host %s", async (_, host, addresses) => {
  await using parent = await startTestParent();
  const proxies = [{ id: "p", protocol: "http" as const, host: ownAddress, port: parent.port }];
  await using proxy = await startTestProxy(
    {
      proxy: "p",
      proxies,
      private_hosts: [],
      allowed_hosts: ["allowed.example", "127.0.0.1", "10.0.0.1", "[64:ff9b::7f00:1]", "metadata.google.internal"],
    },
    async () => addresses,
  );
  expect(await proxy.send(get(`http://${host}/`))).toMatch(/^HTTP\/1\.1 403 /);
  expect(await proxy.send(through(`${host}:443`))).toMatch(/^HTTP\/1\.1 403 /);
  expect(parent.asked).toEqual([]);
});
