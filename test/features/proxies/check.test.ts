/** Checks through real proxies: plain and TLS, with and without a login, to sites of both sorts. */
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ParentProxy } from "../../../src/core/protocol/browser-setup.ts";
import { createProxyChecks, type ProxyChecks } from "../../../src/features/proxies/proxy-checks.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type ForwardingProxy,
  type ForwardingProxyOptions,
  startForwardingProxy,
} from "../../support/forwarding-proxy.ts";
import { ownAddress } from "../../support/own-address.ts";
import { startRubbishServer } from "../../support/rubbish-server.ts";
import { testCertificates } from "../../support/test-certificates.ts";

const own = ownAddress();
const trusted = testCertificates(["DNS:proxy.test", "DNS:site.test"]);
const login = "ann:s3cret";
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

/** Names are resolved by the test. The proxies find the sites themselves. */
const addresses: Record<string, string[]> = {
  "proxy.test": [own],
  "site.test": ["203.0.113.5"],
  "rebound.test": ["203.0.113.5", "10.0.0.1"],
  "inside.test": ["10.0.0.1"],
  "named.test": [own],
  "loop.test": ["127.0.0.1"],
  "meta.test": ["169.254.169.254"],
};
const resolve = async (host: string): Promise<string[]> => {
  const found = addresses[host];
  if (!found) throw new Error("the name has no address");
  return found;
};

/** `own` may be a private address. */
const settings = { enabled: true, url: undefined as string | undefined, privateHosts: ["proxy.test"] };
const checks = createProxyChecks(settings, resolve);

let sites: ForwardingProxyOptions["sites"];
/** The headers of each request that the https site has got. */
const told: string[][] = [];
beforeAll(async () => {
  const plain = createServer((_, answer) => answer.end(JSON.stringify({ ip: "198.51.100.7" })));
  const secure = createTlsServer({ cert: trusted.certificate, key: trusted.key }, (asked, answer) => {
    told.push(asked.rawHeaders);
    answer.writeHead(asked.url === "/broken" ? 500 : 200).end("198.51.100.8\n");
  });
  for (const server of [plain, secure]) {
    server.listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    stack.defer(() => void server.close());
  }
  const portOf = (server: typeof plain): number => (server.address() as AddressInfo).port;
  sites = {
    "site.test:80": { host: "127.0.0.1", port: portOf(plain) },
    "site.test:443": { host: "127.0.0.1", port: portOf(secure) },
    "rebound.test:80": { host: "127.0.0.1", port: portOf(plain) },
    "dead.test:80": { host: "127.0.0.1", port: 1 },
  };
});

const start = async (more: Partial<ForwardingProxyOptions> = {}): Promise<ForwardingProxy> =>
  stack.use(await startForwardingProxy({ host: own, sites, ...more }));

const parentOf = ({ port }: Pick<ForwardingProxy, "port">, more: Partial<ParentProxy> = {}): ParentProxy => ({
  id: "px",
  protocol: "http",
  host: "proxy.test",
  port,
  bypass_hosts: [],
  ...more,
});

const check = (parent: ParentProxy, url?: string, by: ProxyChecks = checks) =>
  by.check(parent, { url, projectId: "project", signal: new AbortController().signal });

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((tell, fail) => server.getConnections((error, count) => (error ? fail(error) : tell(count))));

const refusalOf = (parent: ParentProxy, url?: string) =>
  check(parent, url).then(
    (result) => JSON.stringify(result),
    (error: { code: string; message: string }) => `${error.code} ${error.message}`,
  );

const byUrl = (url: string): ProxyChecks => createProxyChecks({ ...settings, url }, resolve);
const available = { status: "available" };
const unavailable = { status: "unavailable" };

describe.each([
  ["HTTP", undefined],
  ["TLS", trusted],
] as const)("a proxy that speaks %s", (_, tls) => {
  const more = tls ? ({ protocol: "https", ca_bundle: tls.authority } as const) : { ca_bundle: trusted.authority };

  // PROXY-16
  test("is available when the site answers, whatever it says", async () => {
    const proxy = await start(tls && { tls });
    const parent = parentOf(proxy, more);
    for (const url of ["http://site.test/a?b=c", "https://site.test/", "https://site.test/broken"])
      expect(await check(parent, url), url).toEqual(available);
    expect(proxy.seen).toEqual(["GET http://site.test/a?b=c", "CONNECT site.test:443", "CONNECT site.test:443"]);
  });

  // PROXY-16
  test("is available with the right login only", async () => {
    const proxy = await start({ ...(tls && { tls }), login });
    const right = parentOf(proxy, { ...more, username: "ann", password: "s3cret" });
    const wrong = parentOf(proxy, { ...more, username: "ann", password: "other" });
    for (const url of ["http://site.test/", "https://site.test/", undefined]) {
      expect(await check(right, url), url).toEqual(available);
      expect(await check(wrong, url), url).toEqual(unavailable);
      expect(await check(parentOf(proxy, more), url), url).toEqual(unavailable);
    }
  });

  // PROXY-21
  test("keeps its login from the site", async () => {
    const proxy = await start({ ...(tls && { tls }), login });
    told.length = 0;
    const parent = parentOf(proxy, { ...more, username: "ann", password: "s3cret" });
    expect(await check(parent, "https://site.test/")).toEqual(available);
    expect(told).toHaveLength(1);
    expect(told.flat().join().toLowerCase()).not.toMatch(/authorization|s3cret|YW5uOnMzY3JldA/i);
  });

  // PROXY-17
  test("is asked for the installation's URL, and the address that it tells is kept", async () => {
    const parent = parentOf(await start(tls && { tls }), more);
    expect(await check(parent, undefined, byUrl("http://site.test/"))).toEqual({
      ...available,
      ipAddress: "198.51.100.7",
    });
    expect(await check(parent, undefined, byUrl("https://site.test/"))).toEqual({
      ...available,
      ipAddress: "198.51.100.8",
    });
  });
});

describe("a proxy is unavailable", () => {
  // PROXY-16
  test("when it can't be reached, has no address, or its certificate is another's", async () => {
    const proxy = await start({ tls: trusted });
    expect(await check(parentOf({ port: 1 }))).toEqual(unavailable);
    expect(await check(parentOf(proxy, { host: "nowhere.test" }))).toEqual(unavailable);
    expect(await check(parentOf(proxy, { protocol: "https" }))).toEqual(unavailable);
  });

  // PROXY-16
  test("when the site can't be reached through it, or its certificate is not trusted", async () => {
    const parent = parentOf(await start());
    addresses["dead.test"] = addresses["unknown.test"] = ["203.0.113.5"];
    for (const url of ["http://dead.test/", "http://unknown.test/", "https://unknown.test/", "https://site.test/"])
      expect(await check(parent, url), url).toEqual(unavailable);
  });

  // PROXY-16
  test("when it, or the site, sends rubbish with a certificate that is not trusted, and the service goes on", async () => {
    const certificates = testCertificates(["DNS:proxy.test", "DNS:site.test"]);
    await using rubbish = await startRubbishServer(certificates, own);
    expect(await check(parentOf(rubbish, { protocol: "https" }))).toEqual(unavailable);
    expect(rubbish.connections()).toBe(1);
    const proxy = await start({ sites: { "site.test:443": { host: own, port: rubbish.port } } });
    expect(await check(parentOf(proxy), "https://site.test/")).toEqual(unavailable);
    expect(rubbish.connections()).toBe(2);
  });

  test("when it closes, or answers with what is no HTTP, and the check ends then", async () => {
    const closing = await start({ onTunnel: (client) => client.destroy() });
    const noise = await start({ onTunnel: (client) => client.end("\u0000".repeat(100)) });
    const endless = await start({
      onTunnel: (client) => client.end(`HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(100_000)}`),
    });
    for (const proxy of [closing, noise, endless]) expect(await check(parentOf(proxy))).toEqual(unavailable);
  });

  test("when the caller is gone before it answers", async () => {
    const gone = new AbortController();
    const silent = await start({ onTunnel: () => gone.abort() });
    const asked = { url: undefined, projectId: "project", signal: gone.signal };
    expect(await checks.check(parentOf(silent), asked)).toEqual(unavailable);
  });
});

// PROXY-18
describe("nothing of the network behind the service can be asked", () => {
  test.each([
    ["config.host", "loopback", { host: "127.0.0.1" }],
    ["config.host", "loopback", { host: "0x7f000001" }],
    ["config.host", "loopback", { host: "::1" }],
    ["config.host", "loopback", { host: "::ffff:127.0.0.1" }],
    ["config.host", "loopback", { host: "loop.test" }],
    ["config.host", "link-local", { host: "meta.test" }],
    ["config.host", "metadata", { host: "metadata.google.internal" }],
    ["config.host", "private", { host: "inside.test" }],
    ["config.host", "private", { host: "rebound.test" }],
  ])("by a proxy's %s: %s, %j", async (path, why, more) => {
    const refusal = await refusalOf(parentOf({ port: 80 }, more));
    expect(refusal).toMatch(new RegExp(`^bad_request ${path}: is not checked: .*${why}`));
  });

  test.each([
    ["http://127.0.0.1/", "loopback"],
    ["http://2130706433/", "loopback"],
    ["http://[::ffff:10.0.0.1]/", "private"],
    ["http://169.254.169.254/latest/meta-data", "link-local"],
    ["https://inside.test/", "private"],
    ["http://rebound.test/", "private"],
    ["http://proxy-free.test/", "no public address"],
    ["http://metadata.google.internal/", "metadata"],
  ])("by the URL %s", async (url, why) => {
    const proxy = await start();
    expect(await refusalOf(parentOf(proxy), url)).toMatch(new RegExp(`^bad_request url: .*${why}`));
    expect(proxy.seen).toEqual([]);
  });

  test("but what the installation names", async () => {
    const named = createProxyChecks({ ...settings, privateHosts: [`${own}/32`] }, resolve);
    const asked = { url: undefined, projectId: "project", signal: new AbortController().signal };
    expect(await named.check(parentOf({ port: 1 }, { host: "named.test" }), asked)).toEqual(unavailable);
    for (const each of [named, checks])
      await expect(each.check(parentOf({ port: 1 }, { host: "inside.test" }), asked)).rejects.toThrow("private");
  });
});

// PROXY-19
test("one project has five checks at once, and others go on", async () => {
  const waiting: (() => void)[] = [];
  const asked = Promise.withResolvers<void>();
  const slow = await start({
    onTunnel(client) {
      waiting.push(() => client.destroy());
      if (waiting.length === 5) asked.resolve();
    },
  });
  const five = Array.from({ length: 5 }, () => check(parentOf(slow)));
  await asked.promise;
  await expect(check(parentOf(slow))).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 2 });
  const quick = await start();
  const other = { url: undefined, projectId: "other", signal: new AbortController().signal };
  expect(await checks.check(parentOf(quick), other)).toEqual(available);
  for (const end of waiting) end();
  expect(await Promise.all(five)).toEqual(Array(5).fill(unavailable));
  expect(await check(parentOf(quick))).toEqual(available);
});

// PROXY-19
test("a check ends with its caller, and gives its place back: for a name that no server tells, and a proxy that says nothing", async () => {
  const silent = createTcpServer((socket) => void socket.on("error", () => undefined).resume());
  silent.listen(0, own);
  await new Promise((done) => silent.once("listening", done));
  stack.defer(() => void silent.close());
  const never = new Promise<string[]>(() => undefined);
  const hanging = createProxyChecks(settings, (host) => (host === "silence.test" ? never : resolve(host)));
  const parent = parentOf(silent.address() as AddressInfo, { protocol: "https" });
  const waits: [string, ParentProxy, (leave: () => void) => void][] = [
    ["its proxy's name", { ...parent, host: "silence.test" }, (leave) => setImmediate(leave)],
    ["its proxy", parent, (leave) => silent.once("connection", leave)],
  ];
  for (const [what, waiting, begun] of waits) {
    const gone = new AbortController();
    begun(() => gone.abort());
    const asked = { url: undefined, projectId: what, signal: gone.signal };
    const late = sleep(8000, "late", { ref: false });
    expect(await Promise.race([hanging.check(waiting, asked), late]), what).toEqual(unavailable);
  }
  await eventually("no connection to the proxy is left", async () => (await connectionsOf(silent)) === 0);

  const left = AbortSignal.abort();
  for (let checked = 0; checked < 6; checked += 1)
    expect(
      await hanging.check({ ...parent, host: "silence.test" }, { url: undefined, projectId: "left", signal: left }),
    ).toEqual(unavailable);
});

test("where checks are off, none is made", async () => {
  const off = createProxyChecks({ ...settings, enabled: false }, resolve);
  const proxy = await start();
  await expect(check(parentOf(proxy), undefined, off)).rejects.toMatchObject({ code: "not_supported_here" });
  expect(proxy.seen).toEqual([]);
});
