/** Names that mean another address when a browser behind a wall connects than when they were first asked for. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgents } from "../../../../support/agent-process.ts";
import { eventually } from "../../../../support/eventually.ts";
import { type Answer, type DnsServer, startDnsServer } from "../../../../support/wall/dns-server.ts";
import { type HitServers, startHitServers } from "../../../../support/wall/hit-servers.ts";
import { ownAddress } from "../../../../support/wall/machine.ts";

const name = "rebind.example";
const agents = createTestAgents();
const parts = new AsyncDisposableStack();
let answer: Answer;
let dns: DnsServer;
let page: Page;
/**
 * Two servers on the same port: on the machine's own address, which the rules allow, and on loopback, which none do.
 */
let allowed: HitServers;
let forbidden: HitServers;

beforeAll(async () => {
  dns = parts.use(await startDnsServer((asked) => (asked === name ? answer : undefined)));
  allowed = parts.use(await startHitServers(ownAddress));
  forbidden = parts.use(await startHitServers("127.0.0.1", allowed.port));
  parts.use(agents);
  const setup = { network: { allowed_hosts: [name] } };
  const agent = await agents.start({}, { setup, env: { BROWSERPOOL_DNS_SERVERS: dns.address } });
  await agent.bind("s", 1);
  page = await (await agent.connect("s")).newPage();
});
afterAll(() => parts.disposeAsync());

/** Opens a connection of its own, and tells whether a server has taken it. */
const connects = (path: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket("ws://${name}:${allowed.port}/${path}");
    socket.onopen = socket.onerror = () => resolve();
  })`);

// NETWORK-10, NETWORK-11
test.each<[string, Answer]>([
  ["loopback", { a: ["127.0.0.1"] }],
  ["loopback, as mapped IPv6", { aaaa: ["::ffff:7f00:1"] }],
  ["the unspecified address", { a: ["0.0.0.0"] }],
  ["loopback first and an allowed address second", { a: ["127.0.0.1", ownAddress] }],
])("a name that turns to %s leads there no more than before", async (what, later) => {
  const id = `r${what.replaceAll(/\W/g, "")}`;
  answer = { a: [ownAddress] };
  await page.goto(`http://${name}:${allowed.port}/${id}-first`);
  expect(allowed.hits(`${id}-first`)).toBe(1);
  // The attempt by itself does reach a server, as long as the name means what it meant.
  await connects(`${id}-again`);
  expect(allowed.hits(`${id}-again`)).toBe(1);

  answer = later;
  const before = dns.asked.length;
  await connects(`${id}-socket`);
  await page.evaluate(`fetch("/${id}-fetch").catch(() => 0)`);
  await page.goto(`http://${name}:${allowed.port}/${id}-page`).catch(() => undefined);
  expect(dns.asked.length).toBeGreaterThan(before);
  for (const how of ["socket", "fetch", "page"]) expect(forbidden.hits(`${id}-${how}`), how).toBe(0);
  // The server there does listen, and counts.
  await fetch(`http://127.0.0.1:${allowed.port}/${id}-socket`);
  await eventually("a hit", () => forbidden.hits(`${id}-socket`) === 1);
});
