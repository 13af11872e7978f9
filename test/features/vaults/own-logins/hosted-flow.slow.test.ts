/** The hosted page of a login that the service does: what it shows to a person, and what it takes. */
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { axeFindings } from "../../../support/axe-findings.ts";
import { passwordOf } from "./login-pages.ts";
import { type OwnLoginParts, startOwnLoginParts } from "./own-login-parts.ts";

let parts: OwnLoginParts;
let browser: Browser;
beforeAll(async () => {
  const executablePath = locatePrograms(process.env)["chromium-headless-shell"];
  if (!executablePath) throw new Error("chromium-headless-shell is missing; run `npm run setup`");
  parts = await startOwnLoginParts();
  browser = await launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
});
afterAll(async () => {
  await browser?.close();
  await parts?.[Symbol.asyncDispose]();
});

const opened = async (hostedUrl: string): Promise<Page> => {
  const page = await browser.newPage();
  await page.goto(hostedUrl);
  await page.waitForSelector("[role=status]");
  return page;
};
const says = (page: Page, text: string) =>
  page.waitForFunction(`document.body.textContent.includes(${JSON.stringify(text)})`, { timeout: 40_000 });

// LOGIN-5, LOGIN-7
test("a person types what is missing, chooses how to get a code, and is told that the browser is logged in", async () => {
  const login = await parts.begin("choice", { isStored: false, begins: false });
  const { hosted_url } = await login.login();
  const page = await opened(hosted_url);
  await page.waitForSelector('input[name="value:password"]', { timeout: 40_000 });
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.$eval("a", (link) => link.getAttribute("href"))).toContain("/live?jwt=");
  await page.type('input[name="value:username"]', "ann");
  await page.type('input[name="value:password"]', passwordOf("choice"));
  await page.click("button.primary");
  await page.waitForSelector('input[name="choice"]', { timeout: 40_000 });
  await page.click('input[value="choice-2"]');
  await page.click("button.primary");
  await page.waitForSelector('input[name="value:code"]', { timeout: 40_000 });
  await page.type('input[name="value:code"]', "424242");
  await page.click("button.primary");
  await says(page, "The browser is logged in");
  expect(await login.state()).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
  await page.close();
});

// LOGIN-7
test("a person is told what to do elsewhere, and a form of another page is refused", async () => {
  const login = await parts.begin("push", { begins: false });
  const { hosted_url } = await login.login();
  const page = await opened(hosted_url);
  await says(page, "approve the login on the other device");
  const cookie = (await page.browserContext().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const body = new URLSearchParams({ csrf: "no", "value:code": "1" });
  const { status } = await fetch(page.url(), { method: "POST", headers: { cookie }, body });
  expect(status).toBe(403);
  parts.site.approve("push");
  await says(page, "The browser is logged in");
  await page.close();
});
