/** Ways around a wall that an extension has and a page has not, each tried behind it, and where nothing forbids it. */
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestAgents } from "../../../../support/agent-process.ts";
import { eventually } from "../../../../support/eventually.ts";
import { type HitServers, startHitServers } from "../../../../support/wall/hit-servers.ts";
import { ownAddress } from "../../../../support/wall/machine.ts";
import { type PagesSite, startPagesSite } from "../../../../support/wall/pages-site.ts";
import { writeZip } from "../../../../support/zip-writer.ts";

const agents = createTestAgents();
afterEach(() => agents[Symbol.asyncDispose]());

let site: PagesSite;
let forbidden: HitServers;
beforeAll(async () => {
  site = await startPagesSite(ownAddress);
  forbidden = await startHitServers("::");
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await forbidden[Symbol.asyncDispose]();
});

/** The zip of an extension with every right that concerns the network, whose worker runs this. */
const extension = (worker: string): Buffer =>
  writeZip([
    {
      name: "manifest.json",
      content: JSON.stringify({
        manifest_version: 3,
        name: "Out",
        version: "1.0",
        permissions: ["proxy", "declarativeNetRequest", "declarativeNetRequestWithHostAccess"],
        host_permissions: ["<all_urls>"],
        background: { service_worker: "worker.js" },
      }),
    },
    { name: "worker.js", content: worker },
  ]);

type Attempt = { url: string; host: string; port: number };

const attempts: [what: string, control: "open" | "plain", worker: (attempt: Attempt) => string][] = [
  ["its worker's fetch", "open", ({ url }) => `fetch("${url}")`],
  [
    "a redirect by declarativeNetRequest",
    "open",
    ({ url }) => `chrome.declarativeNetRequest.updateSessionRules({ addRules: [{
      id: 1,
      action: { type: "redirect", redirect: { url: "${url}" } },
      condition: { urlFilter: "/redirect-me", resourceTypes: ["main_frame"] },
    }] })`,
  ],
  [
    "chrome.proxy without a proxy",
    "plain",
    ({ url }) => `chrome.proxy.settings.set({ value: { mode: "direct" } }).then(() => fetch("${url}"))`,
  ],
  [
    "chrome.proxy with another proxy",
    "plain",
    ({ host, port, url }) => `chrome.proxy.settings.set({ value: { mode: "fixed_servers", rules: {
      singleProxy: { scheme: "http", host: "${host}", port: ${port} }, bypassList: [],
    } } }).then(() => fetch("${url}"))`,
  ],
  [
    "chrome.proxy with a script",
    "plain",
    ({ url }) => `chrome.proxy.settings.set({ value: { mode: "pac_script", pacScript: {
      data: "function FindProxyForURL() { return 'DIRECT'; }", mandatory: true,
    } } }).then(() => fetch("${url}"))`,
  ],
];

const settleMs = 1500;

// NETWORK-6, NETWORK-11
test.each(attempts)("an extension gets out of the wall by nothing: %s", async (what, control, worker) => {
  const id = `e${attempts.findIndex(([name]) => name === what)}`;
  const url = `http://${ownAddress}:${forbidden.port}/${id}`;
  const zip = extension(worker({ url, host: ownAddress, port: forbidden.port }));
  const extensions = [
    { id: "out", name: "Out", bytes: zip.length, sha256: createHash("sha256").update(zip).digest("hex") },
  ];
  const hitsWith = async (network: object | undefined, isOver: () => boolean): Promise<number> => {
    forbidden.forget();
    const setup = { extensions, ...(network && { network }) };
    const agent = await agents.start({}, { setup, archives: [zip] });
    await agent.bind("s", 1);
    const browser = await agent.connect("s");
    const page = await browser.newPage();
    await browser.waitForTarget((target) => target.type() === "service_worker");
    const until = Date.now() + settleMs;
    await eventually("the end of the attempt", async () => {
      // A redirect shows when its rule is there.
      await page.goto(`${site.url}redirect-me`).catch(() => undefined);
      return isOver() || Date.now() > until;
    });
    await agents[Symbol.asyncDispose]();
    return forbidden.hits(id);
  };
  const arrived = (): boolean => forbidden.hits(id) > 0;
  expect(await hitsWith({ allowed_hosts: [site.host] }, () => false), "behind the wall").toBe(0);
  expect(await hitsWith(control === "open" ? {} : undefined, arrived), "without what forbids it").toBeGreaterThan(0);
});
