/**
 * Tabs that a former holder has left in a browser which is kept, and that hold up everyone: none is there for the next
 * holder.
 */
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestAgents, type TestAgent } from "../../support/agent-process.ts";
import { eventually } from "../../support/eventually.ts";
import { type Site, startSite } from "./residue/site.ts";

const agents = createTestAgents();
let agent: TestAgent;
let site: Site;
let seq = 0;
beforeAll(async () => {
  agent = await agents.start();
  site = await startSite();
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const hold = async (session: string) => {
  seq += 1;
  expect((await agent.bind(session, seq)).status).toBe(200);
  return agent.connect(session);
};
const release = async (session: string): Promise<void> => {
  expect((await agent.release(session, seq)).status).toBe(200);
  expect((await agent.call("GET", "/reset")).status).toBe(200);
};
/** What every tab answers. */
const titlesOf = async (browser: Browser): Promise<string[]> =>
  Promise.all((await browser.pages()).map((page) => page.title()));

// LEASE-64
test.each([
  ["loops", 0],
  ["begins to loop when its holder is gone", 1500],
])("a tab that %s is closed; another tab and the cookies stay", async (what, afterMs) => {
  const browser = await hold(`before ${what}`);
  const other = await browser.newPage();
  await other.goto(site.url.replace("127.0.0.1", "localhost"));
  await other.evaluate("document.title = 'well'; document.cookie = 'left=1; max-age=1000'");
  const page = await browser.newPage();
  await page.goto(site.url);
  const loop = `navigator.sendBeacon("/report?${what}"); setTimeout(() => { while (true); })`;
  await page.evaluate(`void setTimeout(() => { ${loop} }, ${afterMs})`);
  await browser.disconnect();
  await release(`before ${what}`);
  await eventually("the tab loops", () => site.reports.includes(what));

  const next = await hold(`after ${what}`);
  const said = await titlesOf(next);
  expect(said).toContain("well");
  expect(said).not.toContain("site");
  expect((await next.cookies()).map(({ name }) => name)).toContain("left");
  for (const left of await next.pages()) if ((await left.title()) === "well") await left.close();
  await next.disconnect();
  await release(`after ${what}`);
});

// LEASE-64
test("a crashed tab is closed, and a browser whose every tab hangs has a new one", async () => {
  const browser = await hold("crasher");
  const [first, ...others] = await browser.pages();
  for (const page of others) await page.close();
  await first?.goto("chrome://crash").catch(() => undefined);
  await browser.disconnect();
  await release("crasher");
  const next = await hold("after the crash");
  expect(await titlesOf(next)).toEqual([""]);
  await next.disconnect();
  await release("after the crash");
});

// LEASE-64
test("a browser whose tab has a frame of another site that loops is made anew", async () => {
  const browser = await hold("framer");
  const page = await browser.newPage();
  await page.goto(site.url);
  await page.evaluate("document.title = 'framed'");
  const address = site.url.replace("127.0.0.1", "localhost");
  await page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = resolve;
    frame.src = ${JSON.stringify(address)};
    document.body.append(frame);
  })`);
  await page.frames()[1]?.evaluate("void setTimeout(() => { while (true); })");
  await browser.disconnect();
  await release("framer");
  const next = await hold("after the frame");
  expect(await titlesOf(next)).toEqual([""]);
  await next.disconnect();
});
