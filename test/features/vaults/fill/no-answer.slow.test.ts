/**
 * Pages and browsers that don't answer: a fill ends at its deadline, reports what is known, and leaves nothing
 * attached.
 */
import type { CDPSession, Dialog, Page } from "puppeteer-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FillRequest, fillPage } from "../../../../src/features/vaults/fill/fill-page.ts";
import type { FillRefused, FillResult } from "../../../../src/features/vaults/fill/fill-result.ts";
import { Sensitive } from "../../../../src/platform/base/sensitive.ts";
import { eventually } from "../../../support/eventually.ts";
import { bindingsOf, type FillParts, startFillParts, type Values } from "../../../support/fill-parts.ts";
import { freeze } from "../../../support/processes.ts";

let parts: FillParts;
// A new browser for each test: most tests leave theirs unusable.
beforeEach(async () => {
  parts = await startFillParts();
});
afterEach(() => parts?.[Symbol.asyncDispose]());

/** Long enough to reach the page's trouble, short enough to wait for. */
const timeoutMs = 1500;

const fill = (page: Page, values: Values, more?: Partial<FillRequest>): Promise<FillResult> =>
  parts.fill(page, values, { timeoutMs, ...more });

const refusal = (code: FillRefused["code"]) => ({ name: "FillRefused", code });

/** CDP sockets of the session, as its agent counts them; the tests' own client has one of them. */
const sockets = async (): Promise<number | undefined> =>
  (await parts.agent.call("GET", "/state")).body.lease?.connections;

const untilSockets = (count: number): Promise<unknown> =>
  eventually(`${count} CDP sockets`, async () => (await sockets()) === count);

const nextDialog = (page: Page): Promise<Dialog> => new Promise((resolve) => page.once("dialog", resolve));

const nextPause = (session: CDPSession): Promise<unknown> =>
  new Promise((resolve) => session.once("Debugger.paused", resolve));

/** Ends the script in which a page hangs. */
const interrupt = (session: CDPSession): Promise<unknown> => session.send("Runtime.terminateExecution");

// FILL-25
describe("before the first write", () => {
  test("a page in an endless loop is not ready", async () => {
    const page = await parts.open("hangs");
    const session = await page.createCDPSession();
    await page.evaluate("setTimeout(() => { for (;;); })");
    await expect(fill(page, { "#user": "never" })).rejects.toMatchObject(refusal("browser_not_ready"));
    await untilSockets(1);
    await interrupt(session);
    expect(await parts.shown(page, "#user")).toBe("");
  });

  test("a page with an open dialog is not ready", async () => {
    const page = await parts.open("hangs");
    const opened = nextDialog(page);
    await page.evaluate("setTimeout(() => alert('stop'))");
    const dialog = await opened;
    await expect(fill(page, { "#user": "never" })).rejects.toMatchObject(refusal("browser_not_ready"));
    await dialog.accept();
    expect((await fill(page, { "#user": "ada" })).status).toBe("completed");
    await untilSockets(1);
  });

  test("a page that asks before it is left is not ready", async () => {
    const page = await parts.open("hangs");
    await page.click("#user");
    await page.evaluate("addEventListener('beforeunload', (event) => event.preventDefault())");
    const opened = nextDialog(page);
    await page.close({ runBeforeUnload: true });
    const dialog = await opened;
    await expect(fill(page, { "#user": "never" })).rejects.toMatchObject(refusal("browser_not_ready"));
    await dialog.dismiss();
    expect((await fill(page, { "#user": "ada" })).status).toBe("completed");
  });

  test("a page that a debugger has stopped is not ready", async () => {
    const page = await parts.open("hangs");
    const session = await page.createCDPSession();
    await session.send("Debugger.enable");
    const paused = nextPause(session);
    await page.evaluate("setTimeout(() => { debugger; })");
    await paused;
    await expect(fill(page, { "#user": "never" })).rejects.toMatchObject(refusal("browser_not_ready"));
    await session.send("Debugger.resume");
    expect(await parts.shown(page, "#user")).toBe("");
  });

  test.each<[string, () => Partial<FillRequest["connect"]>]>([
    ["nothing listens", () => ({ url: "ws://127.0.0.1:1/cdp" })],
    ["the agent refuses", () => ({ headers: {} })],
  ])("a browser is not ready when %s", async (_name, change) => {
    const page = await parts.open("plain");
    const connect = { ...parts.connect, ...change() };
    await expect(fill(page, { "#user": "never" }, { connect })).rejects.toMatchObject(refusal("browser_not_ready"));
  });

  test("a browser whose agent hangs is not ready", async () => {
    const page = await parts.open("plain");
    await freeze(parts.agent.child.pid);
    try {
      await expect(fill(page, { "#user": "never" })).rejects.toMatchObject(refusal("browser_not_ready"));
    } finally {
      parts.agent.child.kill("SIGCONT");
    }
    await untilSockets(1);
  });

  test("an abort ends the fill with its reason", async () => {
    const page = await parts.open("hangs");
    await page.evaluate("setTimeout(() => { for (;;); })");
    const caller = new AbortController();
    const filling = fillPage(
      { connect: parts.connect, pageUrl: page.url(), timeoutMs: 30_000, bindings: bindingsOf({ "#user": "never" }) },
      caller.signal,
    );
    await untilSockets(2);
    caller.abort(new Error("the caller is gone"));
    await expect(filling).rejects.toThrow("the caller is gone");
    await untilSockets(1);
    // Sooner than at the fill's own deadline.
  }, 20_000);
});

// FILL-7, FILL-30, FILL-31, FILL-32, FILL-36
describe("after the first write", () => {
  const fields = [
    { index: 0, status: "filled" },
    { index: 1, status: "unknown", error_code: "timeout" },
    { index: 2, status: "not_attempted" },
  ];

  test.each(["#loops", "#alerts"])("the status of a field whose input never ends, %s, is unknown", async (selector) => {
    const page = await parts.open("hangs");
    expect(await fill(page, { "#user": "ada", [selector]: "x", "#after": "never" })).toMatchObject({
      status: "unknown",
      fields,
    });
    await untilSockets(1);
  });

  test("the status of a field is unknown when a debugger stops the page", async () => {
    const page = await parts.open("hangs");
    const session = await page.createCDPSession();
    await session.send("Debugger.enable");
    const paused = nextPause(session);
    expect(await fill(page, { "#user": "ada", "#pauses": "x", "#after": "never" })).toMatchObject({
      status: "unknown",
      fields,
    });
    await paused;
    await session.send("Debugger.resume");
    expect(await parts.shown(page, "#after")).toBe("");
  });

  test("a page that becomes free after the deadline does not make the write", async () => {
    const page = await parts.open("hangs");
    const session = await page.createCDPSession();
    const result = await fill(page, { "#user": "ada", "#blocks": "a", "#after": "never" });
    expect(result).toMatchObject({
      status: "unknown",
      fields: [{ status: "filled" }, { status: "filled" }, { status: "unknown", error_code: "timeout" }],
    });
    await interrupt(session);
    expect(await parts.shown(page, "#after")).toBe("");
  });

  test("a browser that dies leaves the current write unknown", async () => {
    const page = await parts.open("plain");
    const value = (): Sensitive => {
      for (const group of parts.agent.groups()) process.kill(-group, "SIGKILL");
      return new Sensitive("x");
    };
    const bindings = [...bindingsOf({ "#user": "ada" }), { selector: "#password", value }];
    const result = await fill(page, {}, { bindings, timeoutMs: 20_000 });
    expect(result.status).toBe("unknown");
    expect(result.fields).toEqual([
      { index: 0, status: "filled" },
      { index: 1, status: "unknown", error_code: "execution_failed" },
    ]);
  });
});
