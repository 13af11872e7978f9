/** Sites in the console, over the real service; what is known comes as objects. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { buttonsOf, expectWell, fill, goTo, navigationOf, openAs, press, untilSaid } from "./console-actions.ts";
import { createAnalysis, createSite } from "./known-site.ts";

const host = "www.console-shop.example";
const normalized = `https://${host}/${"long-".repeat(40)}`;
const advice = "<img src=x onerror=alert(1)> \u202eScroll down";

let stack: LocalProject;
let viewers: ViewBrowser;
let page: Page;
let faults: string[];

beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  ({ page, faults } = await openAs(viewers, stack, { permissions: ["registry:read"], path: "/sites" }));
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

test("where nothing is known, the page says how it comes to be known", async () => {
  await untilSaid(page, "Nothing is known of any site yet.");
  await expectWell(page, "no site");
  await goTo(page, "/sites?show=analyzed");
  await untilSaid(page, "No page was tried out within the last day");
  await goTo(page, "/sites/host/none.example");
  await untilSaid(page, "Nothing is known of it.");
  await goTo(page, "/sites/analyses/none");
  await page.waitForSelector("main [role=alert]");
  await expectWell(page, "no analysis");
});

test("a site shows what is recommended and why, and the evidence of each configuration", async () => {
  await createSite(stack.kube, host, advice);
  await createAnalysis(stack.kube, host, normalized);
  await eventually("it is known", async () => {
    const answer = await stack.call("GET", `/config-registry/sites?query=${host}`);
    return ((await answer.json()) as unknown[]).length > 0;
  });
  await goTo(page, "/sites");
  await fill(page, "Find a site", "console-sh");
  await untilSaid(page, "headful, stealth, direct");
  expect(page.url()).toContain("query=console-sh");
  await expectWell(page, "known sites");
  await press(page, host);
  await untilSaid(page, "since 19 of 20 judged trials of its host");
  await untilSaid(page, "<img src=x onerror=alert(1)> \\u{202e}Scroll down");
  await untilSaid(page, "not enough evidence");
  await page.locator("main details summary").click();
  await untilSaid(page, "challenge page, status 403");
  await expectWell(page, "a site");
  await press(page, "This analysis");
  await untilSaid(page, "Nothing works");
  await expectWell(page, "an analysis");
  expect(await buttonsOf(page)).toEqual(["As code"]);
  await goTo(page, "/sites?show=analyzed");
  await press(page, normalized);
  await untilSaid(page, "Nothing works");
});

test("a URL is looked up, and its address keeps it out", async () => {
  await goTo(page, "/sites");
  await fill(page, "URL to look up", `https://${host}/secret?token=1`);
  await press(page, "Look up");
  await untilSaid(page, `Looked up as https://${host}/secret`);
  expect(page.url()).not.toContain("secret");
  await expectWell(page, "a lookup");
  await fill(page, "URL to look up", "https://127.0.0.1/");
  await press(page, "Look up");
  await page.waitForSelector("main [role=alert]");
  await expectWell(page, "a refused lookup");
  expect(await navigationOf(page)).toEqual(["Sites"]);
  expect(await buttonsOf(page)).not.toContain("Have it tried out");
  expect(faults).toEqual([]);
});

test("who may have sites tried out is offered that, and told why it is refused", async () => {
  const other = await openAs(viewers, stack, { permissions: ["registry:read", "registry:analyze"], path: "/sites" });
  await fill(other.page, "URL to look up", "https://127.0.0.1/");
  await press(other.page, "Have it tried out");
  await other.page.waitForSelector("main [role=alert]");
  await other.page.close();
});
