/** Vaults, logins and credentials in the console, over the real service. */

import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import {
  allOf,
  buttonsOf,
  expectWell,
  fill,
  goTo,
  navigationOf,
  openAs,
  press,
  readJson,
  tick,
  untilSaid,
} from "./console-actions.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let page: Page;
let faults: string[];
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  ({ page, faults } = await openConsole(viewers, { url: stack.url, key: stack.api_key, path: "/credentials" }));
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const secret = "correct-horse-battery";
const seed = "JBSWY3DPEHPK3PXP";

test("a person stores a credential, and the page keeps nothing of what is secret, also when it is refused", async () => {
  await untilSaid(page, "There is no credential yet.");
  await expectWell(page, "no credential");
  await press(page, "Make a credential");
  await fill(page, "Name", "bad name");
  await fill(page, "Domain", "shop.example");
  await fill(page, "Value of value 1", "alice");
  await fill(page, "Value of value 2", secret);
  await fill(page, "Secret of the authenticator", seed);
  await press(page, "Store the credential");
  await untilSaid(page, "Not done: look at the marked fields.");
  expect(await page.$eval("[aria-invalid]", (input) => (input as unknown as { name: string }).name)).toBe("name");
  await expectWell(page, "a refused form");
  expect(await allOf(page)).not.toMatch(new RegExp(`${secret}|${seed}|alice`));

  await fill(page, "Name", "shop");
  await fill(page, "Value of value 1", "alice");
  await fill(page, "Value of value 2", secret);
  await fill(page, "Secret of the authenticator", seed);
  await fill(page, "Only into pages of", "https://shop.example\nhttp://localhost:1");
  await press(page, "Store the credential");
  await untilSaid(page, "Stored values");
  expect(page.url()).toBe(`${stack.url}/console/credentials/shop`);
  expect(await allOf(page)).not.toMatch(new RegExp(`${secret}|${seed}|alice`));
  expect(await stack.kernel.credentials.retrieve("shop")).toMatchObject({
    domain: "shop.example",
    value_keys: ["password", "username"],
    has_totp_secret: true,
    allowed_origins: ["https://shop.example", "http://localhost:1"],
  });
});

test("the code of an authenticator is shown on a click, and hidden again", async () => {
  await goTo(page, "/credentials/shop");
  await untilSaid(page, "Show the code");
  await press(page, "Show the code");
  const code = await page.waitForSelector("output");
  expect(await code?.evaluate(({ textContent }) => textContent)).toMatch(/^\d{6}$/);
  await expectWell(page, "a code");
  await press(page, "Hide");
  await eventually("it is hidden", async () => (await page.$("output")) === null);
});

test("a change of a credential touches what was changed alone", async () => {
  await goTo(page, "/credentials/shop");
  await untilSaid(page, "Change");
  await press(page, "Change");
  await fill(page, "Name", "shop-2");
  await tick(page, "username");
  await press(page, "Add a value");
  await fill(page, "Name of value 1", "pin");
  await fill(page, "Value of value 1", "4711");
  await fill(page, "Only into pages of", "");
  await press(page, "Save the change");
  await untilSaid(page, "Credential shop-2 is changed.");
  const changed = await stack.kernel.credentials.retrieve("shop-2");
  expect(changed).toMatchObject({ value_keys: ["password", "pin"], has_totp_secret: true });
  expect(changed).not.toHaveProperty("allowed_origins");
});

test("a person makes a login and a vault, puts the login in, and takes all of it away", async () => {
  await goTo(page, "/logins");
  await untilSaid(page, "There is no login yet.");
  await press(page, "Make a login");
  await fill(page, "Domain", "shop.example");
  await fill(page, "Profile", "alice");
  await fill(page, "Credential", "shop-2");
  await press(page, "Make the login");
  await untilSaid(page, "Ready");
  const [login] = await readJson<{ id: string; credential: object }[]>(stack, "/auth/connections");
  expect(login?.credential).toEqual({ name: "shop-2" });

  await goTo(page, "/vaults");
  await press(page, "Make a vault");
  await fill(page, "Name", "team");
  await press(page, "Make the vault");
  await untilSaid(page, "This vault is empty.");
  await press(page, "Put in an item");
  await fill(page, "Key", "shop");
  await fill(page, "What it is", "<b>The \u202eshop</b>");
  await press(page, "Put it in");
  await untilSaid(page, "<b>The \\u{202e}shop</b>");
  await expectWell(page, "a vault");
  expect(await readJson(stack, "/vaults/team/items")).toMatchObject([
    { key: "shop", spec: { connection_id: login?.id } },
  ]);

  await page.locator("main td a").click();
  await untilSaid(page, "Put in");
  await expectWell(page, "an item");
  await press(page, "As code");
  await untilSaid(page, "kind: VaultItem");
  await expectWell(page, "an item as code");
  await press(page, "Close");
  await press(page, "Delete");
  await press(page, "Delete the item");
  await untilSaid(page, "This vault is empty.");
  await press(page, "Delete");
  await press(page, "Delete the vault");
  await untilSaid(page, "team is deleted.");
  expect(await readJson(stack, "/vaults")).toEqual([]);
});

test("a login that a person hands in by the link is ready", async () => {
  const { id } = await stack.kernel.auth.connections.create({ domain: "bank.example", profile_name: "bob" });
  await goTo(page, `/logins/${id}`);
  await untilSaid(page, "Needs a login");
  await press(page, "Begin a login");
  const link = await page.waitForSelector("main a[target=_blank]");
  const address = (await link?.evaluate((element) => (element as unknown as { href: string }).href)) ?? "";
  await expectWell(page, "a login that has begun");
  const hosted = await viewers.browser.newPage();
  await hosted.goto(address);
  await hosted.waitForSelector('input[name="csrf"]');
  await hosted.type('input[name="value:username"]', "bob");
  await hosted.type('input[name="value:password"]', secret);
  await Promise.all([hosted.waitForNavigation(), hosted.click("button.primary")]);
  await hosted.close();
  await untilSaid(page, "● Ready");
  await page.bringToFront();
  await press(page, "Change");
  await tick(page, "Keep what a person types as the credential");
  await press(page, "Save the change");
  await untilSaid(page, "is not kept");
  expect(await readJson(stack, `/auth/connections/${id}`)).toMatchObject({ save_credentials: false });
  await press(page, "Delete");
  await press(page, "Delete the login");
  await untilSaid(page, "is deleted.");
  expect((await stack.call("GET", `/auth/connections/${id}`)).status).toBe(404);
});

test("a key that may only read is offered nothing else, and sees no code", async () => {
  const narrow = await openAs(viewers, stack, { permissions: ["vaults:read"], path: "/credentials/shop-2" });
  await untilSaid(narrow.page, "Authenticator");
  expect(await buttonsOf(narrow.page)).toEqual(["As code"]);
  expect(await navigationOf(narrow.page)).toEqual(["Needs you", "Vaults", "Logins", "Credentials"]);
  for (const view of ["/vaults", "/logins", "/credentials"]) {
    await goTo(narrow.page, view);
    await untilSaid(narrow.page, view === "/vaults" ? "There is no vault yet." : "shop");
    expect((await buttonsOf(narrow.page)).filter((name) => name.startsWith("Make"))).toEqual([]);
  }
  await goTo(narrow.page, "/proxies");
  await untilSaid(narrow.page, "Your key lacks the permission pools:read.");
  await narrow.page.close();
});

test("what is not there, or can't be read, is told with the way back", async () => {
  for (const path of ["/vaults/none", "/vaults/none/items/none", "/logins/none", "/credentials/none"]) {
    await goTo(page, path);
    await untilSaid(page, "It may have been deleted.");
    await expectWell(page, path);
  }
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url().includes("/vaults?")) void request.abort();
    else void request.continue();
  });
  await goTo(page, "/vaults");
  await untilSaid(page, "The service does not answer.");
  await expectWell(page, "a list that can't be read");
  expect(faults).toEqual([]);
});
