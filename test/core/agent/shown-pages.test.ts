/** Which pages may be pictured, before, during and after a fill: the rule with a real Chromium. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFillTimes } from "../../../src/core/agent/shown-pages.ts";
import { type CdpConnection, connectCdp } from "../../../src/platform/cdp/cdp-connection.ts";
import { eventually } from "../../support/eventually.ts";
import { launchChromium } from "../../support/plain-chromium.ts";

const stack = new AsyncDisposableStack();
let cdp: CdpConnection;
let site: string;
let marks = 0;

beforeAll(async () => {
  const server = createServer((_request, response) =>
    response
      .setHeader("content-type", "text/html")
      .end('<input id="login"><script>onpageshow = (event) => { kept = event.persisted }</script>'),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  stack.defer(() => server.closeAllConnections());
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const profileDir = await mkdtemp(join(tmpdir(), "browserpool-test-"));
  stack.defer(() => rm(profileDir, { recursive: true, force: true, maxRetries: 5 }));
  const chromium = await launchChromium(profileDir);
  stack.defer(() => chromium.close());
  cdp = stack.use(await connectCdp({ url: chromium.wsEndpoint(), headers: {} }, new AbortController().signal));
});
afterAll(() => stack.disposeAsync());

const openTab = async (): Promise<string> => {
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  return (await cdp.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
};

const evaluate = async (sessionId: string, expression: string): Promise<unknown> =>
  (await cdp.send("Runtime.evaluate", { expression, returnByValue: true }, { sessionId })).result.value;

/** Leads the tab on, and waits for another document; a kept one has its mark from before. */
const afterMark = async (sessionId: string, lead: () => Promise<unknown>): Promise<void> => {
  marks += 1;
  await evaluate(sessionId, `globalThis.mark = ${marks}`);
  await lead();
  await eventually("another document is there", async () => {
    const expression = `globalThis.mark !== ${marks} && document.readyState === "complete"`;
    return (await evaluate(sessionId, expression).catch(() => false)) === true;
  });
};

const goBack = (sessionId: string): Promise<unknown> => evaluate(sessionId, "history.back()");

const goto = (sessionId: string, path: string): Promise<void> =>
  afterMark(sessionId, () => cdp.send("Page.navigate", { url: `${site}${path}` }, { sessionId }));

test("a page is shown again once its tab has gone on to a document that never had the filled fields", async () => {
  const fills = createFillTimes();
  const tab = await openTab();
  const other = await openTab();
  await goto(tab, "/login");
  expect(await fills.mayShow(cdp, tab)).toBe(true);

  let begun = 0;
  const stopListening = fills.onFill(() => {
    begun += 1;
  });
  const end = fills.begin();
  expect([begun, fills.isFilling()]).toEqual([1, true]);
  expect([await fills.mayShow(cdp, tab), await fills.mayShow(cdp, other)]).toEqual([false, false]);
  await goto(other, "/during");
  end();
  end();
  expect(fills.isFilling()).toBe(false);
  expect([await fills.mayShow(cdp, tab), await fills.mayShow(cdp, other)]).toEqual([false, false]);

  await goto(tab, "/account");
  expect(await fills.mayShow(cdp, tab)).toBe(true);
  expect(await fills.mayShow(cdp, await openTab())).toBe(true);

  // What stood in the fields stands there again.
  await afterMark(tab, () => goBack(tab));
  expect([await evaluate(tab, "kept"), await fills.mayShow(cdp, tab)]).toEqual([true, false]);
  await goto(tab, "/account");
  await evaluate(tab, "onunload = () => {}");
  await goto(tab, "/next");
  await afterMark(tab, () => goBack(tab));
  expect([await evaluate(tab, "kept"), await fills.mayShow(cdp, tab)]).toEqual([false, false]);
  await goto(tab, "/account");
  await afterMark(tab, () => cdp.send("Page.reload", {}, { sessionId: tab }));
  expect(await fills.mayShow(cdp, tab)).toBe(false);
  fills.forget();
  expect(await fills.mayShow(cdp, tab)).toBe(true);

  stopListening();
  fills.begin()();
  expect(begun).toBe(1);
});

test("a page that gives no answer, or lies about its clock, is not shown", async () => {
  const fills = createFillTimes();
  const tab = await openTab();
  await goto(tab, "/lies");
  fills.begin()();
  await evaluate(
    tab,
    "performance.now = () => 0; Performance.prototype.now = () => 0; history.replaceState({}, '', '/other')",
  );
  expect(await evaluate(tab, "performance.now()")).toBe(0);
  expect(await fills.mayShow(cdp, tab)).toBe(false);

  await goto(tab, "/busy");
  expect(await fills.mayShow(cdp, tab)).toBe(true);
  const busy = evaluate(tab, "for (const until = Date.now() + 5000; Date.now() < until; );");
  await sleep(50);
  expect(await fills.mayShow(cdp, tab)).toBe(false);
  await busy;
});
