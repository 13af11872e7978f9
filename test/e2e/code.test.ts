/** Code that the holder of a session runs beside its browser, by the API. */
import type { BrowserPoolAcquireResponse } from "@onkernel/sdk/resources/browser-pools";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let pool: string;
beforeAll(async () => {
  stack = await startStack();
  pool = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquire = (of = pool): Promise<BrowserPoolAcquireResponse> =>
  stack.kernel.browserPools.acquire(of, { acquire_timeout_seconds: 60 });
const release = (session_id: string, of = pool): Promise<void> => stack.kernel.browserPools.release(of, { session_id });

// CODE-1, CODE-2
test("the SDK runs code with the page that its client sees", async () => {
  const session = await acquire();
  const { playwright } = stack.kernel.browsers;
  const browser = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  const [page] = await browser.pages();
  await page?.goto("data:text/html,<title>seen</title>");
  expect(
    await playwright.execute(session.session_id, {
      code: `const title: string = await page.title(); console.log(title); await page.setContent("<h1>beside</h1>"); return { title };`,
    }),
  ).toEqual({
    success: true,
    result: { title: "seen" },
    stdout: "seen\n",
    tab: { target_id: expect.any(String), created: false },
  });
  expect(await page?.$eval("h1", ({ textContent }) => textContent)).toBe("beside");
  await browser.disconnect();
  expect(await playwright.execute(session.session_id, { code: "throw new Error('no')" })).toMatchObject({
    success: false,
    error: "Error: no\n    at code.ts:1:7",
  });
  await release(session.session_id);
});

// CODE-6, CODE-7
test("executors and the REPL are there by their routes, and below the session's base_url", async () => {
  const session = await acquire();
  const { session_id: id } = session;
  const jwt = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  const post = async (path: string, body: object): Promise<{ status: number; body: unknown }> => {
    const response = await stack.call("POST", `/browsers/${id}/${path}`, body);
    return { status: response.status, body: await response.json() };
  };
  const named = { code: "return 1", executor: "mine" };
  expect(await post("playwright/execute", named)).toMatchObject({ status: 200, body: { success: true, result: 1 } });
  const below = await fetch(new URL(`${session.base_url}/playwright/execute?jwt=${jwt}`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(named),
  });
  expect(await below.json()).toMatchObject({ success: true, result: 1, tab: { created: false } });
  const listed = async (): Promise<unknown> => (await stack.call("GET", `/browsers/${id}/playwright/executors`)).json();
  expect(await listed()).toMatchObject({ executors: [{ name: "default" }, { name: "mine", busy: false }] });
  expect((await stack.call("DELETE", `/browsers/${id}/playwright/executors/mine`)).status).toBe(204);
  expect((await stack.call("DELETE", `/browsers/${id}/playwright/executors/mine`)).status).toBe(404);
  expect(await listed()).toMatchObject({ executors: [{ name: "default" }] });
  expect(await post("repl", { code: "const a = await page.title(); repl.write(typeof a)" })).toMatchObject({
    body: { success: true, content: [{ type: "text", channel: "write", text: "string" }] },
  });
  expect(await post("repl", { code: "" })).toMatchObject({ status: 400, body: { details: [{ path: "code" }] } });
  expect(await post("playwright/execute", { code: "1", timeout_sec: 301 })).toMatchObject({
    status: 400,
    body: { details: [{ path: "timeout_sec" }] },
  });
  await release(id);
});

/** Every route of code. */
const routes: [method: string, name: string, body?: object][] = [
  ["POST", "playwright/execute", { code: "return 1" }],
  ["GET", "playwright/executors"],
  ["DELETE", "playwright/executors/default"],
  ["POST", "repl", { code: "1" }],
];

// CODE-10, CODE-14
test("the end of a session ends its calls; ended, unknown and other projects' sessions are 404 on each route", async () => {
  const session = await acquire();
  const { session_id: id } = session;
  const other = await stack.kernel.projects.create({ name: "other code" });
  const elsewhere = { "X-Kernel-Project-Id": other.id };
  const statusesOf = async (of: string, headers: Record<string, string> = {}): Promise<number[]> => {
    const statuses = [];
    for (const [method, name, body] of routes)
      statuses.push((await stack.call(method, `/browsers/${of}/${name}`, body, headers)).status);
    return statuses;
  };
  const missing = routes.map(() => 404);
  expect(await statusesOf(id, elsewhere)).toEqual(missing);
  expect(await statusesOf("unknown")).toEqual(missing);
  await stack.call("POST", `/browsers/${id}/playwright/execute`, { code: "return 1" });
  const running = stack.call("POST", `/browsers/${id}/playwright/execute`, { code: "for (;;);" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await release(id);
  expect((await running).status).toBe(404);
  expect(await statusesOf(id)).toEqual(missing);
  const jwt = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  for (const [method, name] of routes) {
    const below = new URL(`${session.base_url}/${name}`);
    expect((await fetch(below, { method })).status).toBe(401);
    below.searchParams.set("jwt", jwt);
    expect((await fetch(below, { method })).status).toBe(404);
  }
});

// CODE-10
test("a change that starts another Chromium ends the executors, and the next call has the new one", async () => {
  const { kernel } = stack;
  const profile = await kernel.profiles.create({});
  const { session_id: id } = await kernel.browsers.create({ headless: true });
  const { playwright } = kernel.browsers;
  await playwright.execute(id, { code: "globalThis.kept = 1" });
  const running = playwright.execute(id, { code: "await new Promise(() => undefined)", timeout_sec: 120 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await kernel.browsers.update(id, { profile: { id: profile.id } });
  expect(await running).toMatchObject({
    success: false,
    error: expect.stringMatching(/connection to the browser has ended/),
  });
  const code = "return [globalThis.kept ?? 'new', await page.evaluate('1 + 1')]";
  expect(await playwright.execute(id, { code })).toMatchObject({ success: true, result: ["new", 2] });
  await kernel.browsers.deleteByID(id);
  await kernel.profiles.delete(profile.id);
});

// CODE-9, TELEMETRY-5
test("telemetry notes an executor as it does any client of CDP", async () => {
  const telemetry = { browser: { connection: { enabled: true }, control: { enabled: true } } };
  const { session_id: id } = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60, telemetry });
  const stream = await stack.kernel.browsers.telemetry.stream(id);
  const code = `await page.goto("data:text/html,x")`;
  expect(await stack.kernel.browsers.playwright.execute(id, { code })).toMatchObject({ success: true });
  const seen: string[] = [];
  for await (const { event } of stream) {
    const { type, data } = event as { type: string; data?: { method?: string } };
    seen.push(data?.method === undefined ? type : `${type} ${data.method}`);
    if (seen.includes("cdp_connect") && seen.includes("cdp_command Page.navigate")) break;
  }
  expect(seen.indexOf("cdp_connect")).toBeLessThan(seen.indexOf("cdp_command Page.navigate"));
  await release(id);
});

// CODE-12
test("the network rules of a browser hold for its code: it reaches pages by the browser alone", async () => {
  const { id: walled } = await filledPool(stack.kernel, { size: 1, network: { private_hosts: [] } } as never);
  const { session_id: id } = await acquire(walled);
  const { result } = (await stack.kernel.browsers.playwright.execute(id, {
    code: `const own = await fetch(${JSON.stringify(stack.url)}).then(() => "reached", ({ cause }) => cause.code);
      const request = await page.request.get(${JSON.stringify(stack.url)}).then(() => "reached", () => "refused");
      const browsers = await page.goto(${JSON.stringify(stack.url)}).then((answer) => answer?.status(), () => "refused");
      return { own, request, browsers };`,
  })) as { result: unknown };
  expect(result).toEqual({
    own: expect.stringMatching(/ECONNREFUSED|ENETUNREACH/),
    request: "refused",
    browsers: expect.not.stringMatching("200"),
  });
  await release(id, walled);
});
