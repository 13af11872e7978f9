/** What a window of the console shows while its connection breaks, hangs, or the service starts anew. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { axeFindings } from "../../support/axe-findings.ts";
import { type BreakableLink, startBreakableLink } from "../../support/breakable-link.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { openConsole, untilText } from "./console-page.ts";

let stack: LocalStack;
let viewers: ViewBrowser;
let link: BreakableLink;
beforeAll(async () => {
  stack = await startLocalStack();
  viewers = await startViewBrowser();
  link = await startBreakableLink(Number(new URL(stack.url).port));
});
afterEach(async () => {
  for (const { id } of (await stack.kernel.browserPools.list()).items) await stack.kernel.browserPools.delete(id, {});
});
afterAll(async () => {
  link?.close();
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const makePool = (name: string) => stack.kernel.browserPools.create({ name, size: 1, fill_rate_per_minute: 0 });

test("a connection that hangs is told, with what was known, and nothing of the time without it is missing", async () => {
  const before = await makePool("before");
  const { page } = await openConsole(viewers, {
    ...{ url: `http://127.0.0.1:${link.port}`, key: stack.api_key, path: "/pools" },
  });
  await untilText(page, /before/);
  await untilText(page, /● Live/, "header");
  link.freeze();
  await makePool("meanwhile");
  await stack.kernel.browserPools.delete(before.id, {});
  // Beside what it is for, a stream has a sign of life each 15 s; a window waits for two of them.
  const told = await untilText(page, /The connection to the service is lost/, "main", 60_000);
  expect(told, "what was known stays").toContain("before");
  expect(await axeFindings(page)).toEqual([]);
  link.thaw();
  link.cut();
  const after = await untilText(page, /meanwhile/);
  expect(after).not.toMatch(/before|is lost/);
  await page.browserContext().close();
}, 120_000);

test("a connection that breaks is made anew at once, again and again", async () => {
  const { page, faults } = await openConsole(viewers, {
    ...{ url: `http://127.0.0.1:${link.port}`, key: stack.api_key, path: "/pools" },
  });
  for (const name of ["one", "two", "three"]) {
    await untilText(page, /● Live/, "header");
    link.cut();
    await makePool(name);
    await untilText(page, new RegExp(name));
  }
  expect(faults.filter((fault) => !/ERR_|network/i.test(fault))).toEqual([]);
  await page.browserContext().close();
});
