/** An agent at an IPv6 address, as in a pod that has no other, with a browser behind a wall. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostPort } from "../../../../src/platform/base/host-port.ts";
import { listeningPort } from "../../../../src/platform/base/listening-port.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { type Answer, startDnsServer } from "../../../support/wall/dns-server.ts";
import { ownIpv6Address } from "../../../support/wall/machine.ts";

const names: Record<string, Answer> = {
  "six.example": { aaaa: [ownIpv6Address ?? "::1"] },
  "aws-metadata.example": { aaaa: ["fd00:ec2:0:0:0:0:0:254"] },
  "mapped-metadata.example": { aaaa: ["::ffff:a9fe:a9fe"] },
  "nat64-metadata.example": { aaaa: ["64:ff9b::a9fe:a9fe"] },
  "link-local.example": { aaaa: ["fe80::1"] },
  "unique-local.example": { aaaa: ["fc00::1"] },
};

const agents = createTestAgents();
const parts = new AsyncDisposableStack();
let agent: TestAgent;
let page: Page;
let port: number;

beforeAll(async () => {
  const dns = parts.use(await startDnsServer((asked) => names[asked]));
  const site = createServer((_, response) => void response.end("<title>six</title>"));
  site.listen(0, "::");
  await once(site, "listening");
  parts.defer(() => {
    site.close();
    site.closeAllConnections();
  });
  port = listeningPort(site);
  agent = await agents.start(
    {},
    {
      address: "::1",
      setup: { network: { private_hosts: ["six.example"] } },
      env: { BROWSERPOOL_DNS_SERVERS: dns.address },
    },
  );
  await agent.bind("s", 1);
  page = await (await agent.connect("s")).newPage();
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await parts.disposeAsync();
});

test("the agent answers, and its browser is driven", async () => {
  expect(agent.baseUrl).toBe("http://[::1]:7510");
  await page.setContent("<title>Hello</title>");
  expect(await page.title()).toBe("Hello");
});

test.runIf(ownIpv6Address)("a site that has only IPv6 addresses loads", async () => {
  const answer = await page.goto(`http://six.example:${port}/`);
  expect([answer?.status(), await page.title()]).toEqual([200, "six"]);
});

test.each([...Object.keys(names).filter((name) => name !== "six.example")])("%s is not reached", async (name) => {
  const answer = await page.goto(`http://${name}:${port}/`);
  expect(answer?.status()).toBe(403);
});

test.each(["::1", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "fe80::1", "fc00::1"])(
  "the address %s is not reached",
  async (address) => {
    const answer = await page.goto(`http://${hostPort(address, port)}/`);
    expect(answer?.status()).toBe(403);
  },
);
