/**
 * What of a page leaves the agent while a vault is filled into it, and afterwards: the live view's tabs with a real
 * Chromium.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFillTimes } from "../../../src/core/agent/shown-pages.ts";
import { openViewedBrowser } from "../../../src/features/live-view/agent/viewed-browser.ts";
import { connectCdp } from "../../../src/platform/cdp/cdp-connection.ts";
import { eventually } from "../../support/eventually.ts";
import { listedOrder, noUploads } from "../../support/listed-order.ts";
import { launchChromium } from "../../support/plain-chromium.ts";

const parts = new AsyncDisposableStack();
let site: string;
let endpoint: string;
beforeAll(async () => {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html");
    const value = request.url === "/Ann" ? "Ann" : "secret";
    response.end(`<title>${request.url}</title><input id=login value=${value} autofocus onfocus="select()">`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  parts.defer(() => server.closeAllConnections());
  parts.defer(() => void server.close());
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const profile = await mkdtemp(join(tmpdir(), "view-"));
  parts.defer(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const chromium = await launchChromium(profile);
  parts.defer(() => chromium.close());
  endpoint = chromium.wsEndpoint();
});
afterAll(() => parts.disposeAsync());

// VIEW-12
test("no picture and no copied text of a filled page, and again both of the next one", async () => {
  const fills = createFillTimes();
  await using cdp = await connectCdp({ url: endpoint, headers: {} }, new AbortController().signal);
  const viewed = await openViewedBrowser(cdp, {
    order: listedOrder,
    uploads: noUploads,
    shownPages: fills,
    mask: (text) => text.replaceAll("Ann", "[filled]"),
  });
  const watching = await viewed.watch((await viewed.openTab()) ?? "", () => undefined, true);
  if (!watching) throw new Error("there is no tab");
  const { tab } = watching;
  const go = (path: string): void => tab.act({ type: "navigate", url: `${site}${path}` });
  const untilTitle = (title: string) =>
    eventually(
      () => `the tab is ${title}: ${JSON.stringify(viewed.tabs())}`,
      () => viewed.tabs().some((known) => known.title === title) || undefined,
    );

  // A navigation that meets the tab's own first one comes to nothing.
  await eventually("the new tab is shown", () => tab.cast.take(0));
  go("/login");
  await untilTitle("/login");
  await eventually("there is a picture", () => tab.cast.take(0));
  expect(await eventually("the selection is copied", async () => (await tab.copy(false)) || undefined)).toBe("secret");

  const end = fills.begin();
  expect([tab.cast.state(), tab.cast.take(0)]).toEqual(["hidden", undefined]);
  expect(await tab.copy(false)).toBe("");
  end();
  // Input goes on, and changes the page that nobody sees.
  tab.input({ type: "text", text: "typed" });
  tab.act({ type: "reload" });
  const other = await viewed.openTab();
  const second = await viewed.watch(other ?? "", () => undefined, true);
  // A document that begins within the time of one question after the end counts as one of before.
  await sleep(1000);
  second?.tab.act({ type: "navigate", url: `${site}/second` });
  await eventually("a page of after the fill is shown", () => second?.tab.cast.take(0));
  expect([tab.cast.state(), tab.cast.take(0), await tab.copy(false)]).not.toContain("shown");
  expect(tab.cast.take(0)).toBeUndefined();

  go("/Ann");
  await untilTitle("/[filled]");
  expect(viewed.tabs().map(({ url }) => url)).toContain(`${site}/[filled]`);
  await eventually("there is a picture of it", () => tab.cast.take(0));
  expect(await eventually("a filled value is copied", async () => (await tab.copy(false)) || undefined)).toBe(
    "[filled]",
  );
  go("/after");
  await untilTitle("/after");
  await eventually("there is a picture again", () => tab.cast.take(0));
  expect(tab.cast.state()).toBe("shown");
  expect(await eventually("its selection is copied", async () => (await tab.copy(false)) || undefined)).toBe("secret");
  second?.leave();
  watching.leave();
});
