/** What pages of other origins can do with a person who is signed in to the console: nothing, in a real browser. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { asConsole, signedIn } from "./console-caller.ts";
import { openConsole } from "./console-page.ts";

let stack: LocalProject;
let viewers: ViewBrowser;
let console: Page;
/** A page of another port: of the same site, so that the cookie goes with its requests. */
let evil: Page;
let server: Server;

beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  ({ page: console } = await openConsole(viewers, { url: stack.url, key: stack.api_key, path: "/pools" }));
  server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>evil</title>"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  evil = await console.browserContext().newPage();
  await evil.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  server?.closeAllConnections();
  server?.close();
  await stack?.[Symbol.asyncDispose]();
});

const made = async (): Promise<number> =>
  ((await (await stack.call("GET", "/browser_pools")).json()) as unknown[]).length;

test("no page of another origin has the console in a frame", async () => {
  for (const path of ["/console", "/console/pools"]) {
    await evil.evaluate(`new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.onload = resolve;
      frame.src = ${JSON.stringify(stack.url + path)};
      document.body.replaceChildren(frame);
    })`);
    const [frame] = evil.mainFrame().childFrames();
    expect(await frame?.evaluate("location.href"), path).toBe("chrome-error://chromewebdata/");
  }
});

test("a form of another origin does nothing, though the cookie goes with it", async () => {
  const sent = evil.waitForResponse((response) => response.url() === `${stack.url}/browser_pools`);
  await evil.evaluate(`(() => {
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: ${JSON.stringify(`${stack.url}/browser_pools`)}, enctype: "text/plain", target: "sent" });
    const input = document.createElement("input");
    input.name = '{"size": 1, "fill_rate_per_minute": 0, "name": "';
    input.value = 'forged"}';
    const frame = Object.assign(document.createElement("iframe"), { name: "sent" });
    form.append(input);
    document.body.replaceChildren(frame, form);
    form.submit();
  })()`);
  const answer = await sent;
  expect([401, 403]).toContain(answer.status());
  expect(await made()).toBe(0);
});

test("a script of another origin reads and does nothing, with and without the console's header", async () => {
  const tries = (await evil.evaluate(`Promise.all([
    ["/browser_pools", { mode: "no-cors" }],
    ["/browser_pools", {}],
    ["/browser_pools", { headers: { "X-Browserpool-Console": "1" } }],
    ["/browser_pools", { method: "POST", mode: "no-cors", body: '{"size": 1, "fill_rate_per_minute": 0}' }],
    ["/browser_pools", { method: "POST", headers: { "X-Browserpool-Console": "1", "Content-Type": "application/json" }, body: '{"size": 1}' }],
    ["/console/session", { method: "DELETE" }],
    ["/console/session", { method: "POST", mode: "no-cors", body: '{"api_key": "bp_of_evil"}' }],
  ].map(([path, asked]) => fetch(${JSON.stringify(stack.url)} + path, { credentials: "include", ...asked })
    .then(async (answer) => answer.type + " " + (await answer.text()), () => "refused")))`)) as string[];
  expect(new Set(tries)).toEqual(new Set(["refused", "opaque "]));
  expect(await made()).toBe(0);
  const own = await console.evaluate(
    `fetch("/console/session", { headers: { "X-Browserpool-Console": "1" } }).then(({ status }) => status)`,
  );
  expect(own, "the person is still signed in").toBe(200);
  expect(await evil.evaluate("document.cookie")).toBe("");
});

test("no cache keeps what a person has read", async () => {
  const cookie = await signedIn(stack.url, stack.api_key);
  for (const path of [
    "/console/session",
    "/browser_pools",
    "/browsers",
    "/vaults",
    "/credentials",
    "/browser_pools/none",
  ]) {
    const answer = await asConsole(stack.url, path, { cookie });
    expect(answer.headers.get("cache-control"), path).toBe("no-store");
    expect(answer.headers.get("x-content-type-options"), path).toBe("nosniff");
  }
});
