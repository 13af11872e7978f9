/** What needs a person, in the console, over the real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { expectWell, openAs, untilSaid } from "./console-actions.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const call = async (method: string, path: string, body: object): Promise<void> => {
  const answer = await stack.call(method, path, body);
  expect(answer.ok, await answer.text()).toBe(true);
};

test("nothing is there first; then logins, items and proxies, each with what to do and a way to it", async () => {
  const { page, faults } = await openConsole(viewers, { url: stack.url, key: stack.api_key });
  await untilSaid(page, "Nothing needs you.");
  expect(new URL(page.url()).pathname, "it is the first view").toBe("/console/needs-you");
  await expectWell(page, "nothing");

  const { kernel } = stack;
  await kernel.credentials.create({ name: "shop", domain: "shop.example", values: { username: "alice" } });
  const ready = await kernel.auth.connections.create({
    ...{ domain: "shop.example", profile_name: "alice", credential: { name: "shop" } },
  });
  await kernel.auth.connections.create({ domain: "bank.example", profile_name: "bob" });
  const spec = { provider: "managed_auth", connection_id: ready.id };
  await call("POST", "/vaults", { name: "team" });
  await call("PUT", "/vaults/team/items/shop", { type: "credential", spec });
  await kernel.credentials.delete("shop");
  const proxy = await kernel.proxies.create({
    ...{ type: "custom", name: "\u202eoffice <b>", config: { host: "127.0.0.1", port: 9 } },
  });
  await call("POST", `/proxies/${proxy.id}/check`, {});

  await page.reload();
  await untilSaid(page, "Proxy: does not answer");
  await untilSaid(page, "\\u{202e}office <b>");
  await untilSaid(page, "No login is stored for it yet.");
  await untilSaid(page, "Its login has no stored values.");
  await expectWell(page, "some needs");
  await page.focus('a[href*="/console/logins/"]');
  await page.keyboard.press("Enter");
  await untilSaid(page, "Begin a login");
  // The link is gone: the focus is at the begin of the page that it led to.
  await page.waitForSelector("main h1:focus");
  expect(faults).toEqual([]);
  await page.close();
});

test("a key sees what it may see of it", async () => {
  const { page } = await openAs(viewers, stack, { permissions: ["vaults:read"], path: "/needs-you" });
  await untilSaid(page, "bank.example as bob");
  expect(await page.$eval("main", ({ textContent }) => textContent)).not.toContain("Proxy");
  await page.close();
});
