/** A wall made by a user without any right, as in a pod and on a developer's machine; other tests may run as root. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgents, runningIn, type TestAgent } from "../../../support/agent-process.ts";
import { type HitServers, startHitServers } from "../../../support/wall/hit-servers.ts";
import { ownAddress } from "../../../support/wall/machine.ts";
import { type PagesSite, startPagesSite } from "../../../support/wall/pages-site.ts";

const isRoot = process.getuid?.() === 0;
const nobody = 65534;

/** Why this machine can't show it; undefined when it can. */
const obstacle = ((): string | undefined => {
  const asUser = isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : ["--no-new-privs"];
  const tries = (what: string, ...command: string[]): string | undefined => {
    try {
      execFileSync("setpriv", [...asUser, ...command], { stdio: "ignore" });
      return undefined;
    } catch {
      return what;
    }
  };
  return (
    tries("a plain user can't read this repository", process.execPath, "--check", import.meta.filename) ??
    tries(
      "no user namespaces without rights",
      "unshare",
      "--user",
      "--map-current-user",
      "--keep-caps",
      "--net",
      "true",
    )
  );
})();

const agents = createTestAgents();
let site: PagesSite;
let forbidden: HitServers;
beforeAll(async () => {
  site = await startPagesSite(ownAddress);
  forbidden = await startHitServers("::");
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await forbidden[Symbol.asyncDispose]();
});

const walled = async (network: object): Promise<{ agent: TestAgent; page: Page }> => {
  const agent = await agents.start({}, { setup: { network }, ...(isRoot && { user: nobody }) });
  await agent.bind("s", 1);
  return { agent, page: await (await agent.connect("s")).newPage() };
};

/** Opens a URL in a context that a holder makes with no proxy. */
const openDirectly = async (page: Page, url: string): Promise<void> => {
  const root = await page.browser().target().createCDPSession();
  const { browserContextId } = await root.send("Target.createBrowserContext", { proxyServer: "direct://" });
  await root.send("Target.createTarget", { url, browserContextId });
};

// NETWORK-6, NETWORK-11
test.skipIf(obstacle)(`a plain user's browser has a wall, too${obstacle ? ` (${obstacle})` : ""}`, async () => {
  const { agent, page } = await walled({ allowed_hosts: [site.host] });
  const uids = runningIn(agent.groups()).flatMap((pid) => {
    try {
      return /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  expect(new Set(uids)).toEqual(new Set([`${isRoot ? nobody : process.getuid?.()}`]));
  const url = (id: string): string => `http://${ownAddress}:${forbidden.port}/${id}`;
  await openDirectly(page, url("direct"));
  expect((await page.goto(url("navigation")))?.status()).toBe(403);
  expect((await page.goto(site.url))?.status()).toBe(200);
  await page.evaluate(`fetch("${url("fetch")}", { mode: "no-cors" }).catch(() => 0)`);
  for (const id of ["direct", "navigation", "fetch"]) expect(forbidden.hits(id), id).toBe(0);

  const open = await walled({});
  expect((await open.page.goto(url("navigation")))?.status()).toBe(200);
  expect(forbidden.hits("navigation")).toBe(1);
});
