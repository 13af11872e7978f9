/** WebDriver over HTTP below a session's `base_url`, by public clients and by callers who may not. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebDriver, { type Client } from "webdriver";
import { connectRawBidi } from "../support/bidi/raw-bidi.ts";
import { docExamples } from "../support/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { logTexts } from "../support/log-files.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

const { Builder, By, Key, until } = createRequire(import.meta.url)("selenium-webdriver");

let stack: LocalProject;
let pool: string;
beforeAll(async () => {
  stack = await startProject();
  pool = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const acquired = async () => {
  const session = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const { session_id, base_url = "", webdriver_ws_url } = session;
  const jwt = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
  const withCredentials = new URL(base_url);
  Object.assign(withCredentials, { username: "jwt", password: jwt });
  return {
    ...{ session_id, base_url, webdriver_ws_url, jwt, withCredentials: String(withCredentials) },
    [Symbol.asyncDispose]: () => stack.kernel.browserPools.release(pool, { session_id }),
  };
};
type Acquired = Awaited<ReturnType<typeof acquired>>;

/** A command as an HTTP request. */
const send = async (base: string, method: string, path: string, more: RequestInit & { jwt?: string } = {}) => {
  const { jwt, headers, ...init } = more;
  const url = `${base}/${path}${jwt === undefined ? "" : `?jwt=${jwt}`}`;
  const response = await fetch(url, { method, headers: { "content-type": "application/json", ...headers }, ...init });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, value: ((await response.json()) as any).value };
};

const newSession = JSON.stringify({ capabilities: { alwaysMatch: { browserName: "chrome" } } });

const page = `data:text/html,${encodeURIComponent(
  `<title>Shop</title><input><button onclick="document.querySelector('p').textContent = 'found ' + document.querySelector('input').value">Look</button><p></p>`,
)}`;

// WDC-1, WDC-11
test("selenium-webdriver drives a session by a URL with credentials", async () => {
  await using session = await acquired();
  const driver = await new Builder().usingServer(session.withCredentials).forBrowser("chrome").build();
  await driver.get(page);
  await driver.findElement(By.css("input")).sendKeys("tea", Key.TAB);
  const button = await driver.findElement(By.css("button"));
  expect(await button.isDisplayed()).toBe(true);
  await driver.actions().move({ origin: button }).click().perform();
  const found = await driver.findElement(By.css("p"));
  await driver.wait(until.elementTextIs(found, "found tea"), 5000);
  expect(await driver.executeAsyncScript("arguments[arguments.length - 1](document.title)")).toBe("Shop");
  expect(await driver.manage().window().setRect({ width: 700, height: 500 })).toMatchObject({
    width: 700,
    height: 500,
  });
  expect(await driver.takeScreenshot()).toMatch(/^iVBOR/);
  const first = await driver.getWindowHandle();
  await driver.switchTo().newWindow("tab");
  await driver.get("data:text/html,<script>setTimeout(() => document.title = prompt('name'))</script>");
  const prompt = await driver.wait(until.alertIsPresent(), 5000);
  await prompt.sendKeys("Ada");
  await prompt.accept();
  expect(await driver.getTitle()).toBe("Ada");
  await driver.close();
  await driver.switchTo().window(first);
  await expect(driver.findElement(By.css("none"))).rejects.toThrow(/no such element/);
  await driver.quit();
});

// WDC-1
test("docs/webdriver.md drives a session with selenium-webdriver", async () => {
  const session = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const [example = ""] = docExamples("webdriver.md", "js");
  const program = `const session = JSON.parse(process.env.SESSION);\n${example}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...process.env, SESSION: JSON.stringify(session) },
  });
  expect(stdout).toBe("by WebDriver\n");
  await stack.kernel.browserPools.release(pool, { session_id: session.session_id });
});

const byWebdriver = ({ base_url, jwt }: Acquired, capabilities: object): Promise<Client> => {
  const { hostname, port, pathname: path } = new URL(base_url);
  const place = { protocol: "http", hostname, port: Number(port), path, queryParams: { jwt } };
  return WebDriver.newSession({ ...place, logLevel: "error", capabilities } as never);
};

// WDC-1, WDC-11, WDC-12
test("webdriver drives a session by the query, over HTTP and WebDriver BiDi at once", async () => {
  await using session = await acquired();
  const client = await byWebdriver(session, { browserName: "chrome" });
  expect(client.capabilities.webSocketUrl).toBe(session.webdriver_ws_url);
  await client.navigateTo(page);
  expect(await client.getTitle()).toBe("Shop");
  const context = await client.getWindowHandle();
  const { result } = (await client.scriptEvaluate({
    ...{ expression: "document.querySelector('button')", target: { context }, awaitPromise: false },
  })) as unknown as { result: { sharedId: string } };
  expect(await client.getElementText(result.sharedId)).toBe("Look");
  const asked: string[] = [];
  await client.sessionSubscribe({ events: ["browsingContext.userPromptOpened"] });
  client.on("browsingContext.userPromptOpened", ({ message }) => {
    asked.push(message);
    void client.browsingContextHandleUserPrompt({ context, accept: true });
  });
  await client.executeScript("setTimeout(() => { window.answer = confirm('sure?'); })", []);
  const answer = () => client.executeScript("return window.answer", []).catch(() => "a dialog is open");
  await eventually("the dialog is accepted", async () => (await answer()) === true);
  expect(asked).toEqual(["sure?"]);
  await client.deleteSession();
  const classic = await byWebdriver(session, { browserName: "chrome", "wdio:enforceWebDriverClassic": true });
  expect(classic.capabilities.webSocketUrl).toBeUndefined();
  expect(await classic.getTitle()).toBe("Shop");
  await classic.deleteSession();
  const bidi = await connectRawBidi(session.webdriver_ws_url);
  expect(await bidi.send("browsingContext.getTree", {})).toMatchObject({ contexts: [{ context }] });
  await bidi.close();
});

// WDC-11, WDC-13
test("who has not the session's token gets nothing, in WebDriver's form", async () => {
  const other = await acquired();
  const { jwt: foreign } = other;
  await other[Symbol.asyncDispose]();
  await using session = await acquired();
  const { base_url, jwt } = session;
  const basic = (user: string, password: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` },
  });
  for (const more of [
    {},
    { jwt: "x" },
    { jwt: foreign },
    basic("jwt", foreign),
    basic("admin", jwt),
    basic("jwt", ""),
  ]) {
    expect(await send(base_url, "POST", "session", { ...more, body: newSession })).toEqual({
      status: 401,
      value: {
        ...{ error: "session not created", message: "the jwt of this URL is missing or not valid", stacktrace: "" },
        data: { code: "unauthorized" },
      },
    });
    expect(await send(base_url, "GET", "session/x/url", more)).toMatchObject({
      status: 401,
      value: { error: "unknown error" },
    });
  }
  expect(await send(other.base_url, "POST", "session", { jwt: foreign, body: newSession })).toMatchObject({
    status: 404,
    value: { error: "invalid session id", data: { code: "not_found" } },
  });
  const key = { headers: { authorization: `Bearer ${stack.api_key}` } };
  expect(await send(base_url, "POST", "session", { ...key, body: newSession })).toMatchObject({ status: 401 });
});

// WDC-13
test("pages of other origins are refused, with the token too", async () => {
  await using session = await acquired();
  const { base_url, jwt, withCredentials } = session;
  const { password } = new URL(withCredentials);
  const authorization = `Basic ${Buffer.from(`jwt:${password}`).toString("base64")}`;
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null", authorization }]) {
    const response = await fetch(`${base_url}/session?jwt=${jwt}`, { method: "POST", headers, body: newSession });
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    await response.body?.cancel();
  }
  // Nobody is asked for a password, which web browsers would send by themselves from then on.
  const refused = await fetch(`${base_url}/session`, { method: "POST", body: newSession });
  expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  await refused.body?.cancel();
});

// WDC-5, WDC-14
test("bodies are bounded, and what is no command is refused in WebDriver's form", async () => {
  await using session = await acquired();
  const { base_url, jwt } = session;
  const { value } = await send(base_url, "POST", "session", { jwt, body: newSession });
  const at = `session/${value.sessionId}`;
  const script = (text: string) => JSON.stringify({ script: text, args: [] });
  expect(
    await send(base_url, "POST", `${at}/execute/sync`, { jwt, body: script(`return 1//${"x".repeat(2 ** 20)}`) }),
  ).toMatchObject({
    status: 413,
    value: { error: "invalid argument", data: { code: "payload_too_large" } },
  });
  expect(
    await send(base_url, "POST", `${at}/execute/sync`, { jwt, body: script(`return "${"x".repeat(900_000)}".length`) }),
  ).toEqual({
    status: 200,
    value: 900_000,
  });
  expect(await send(base_url, "POST", `${at}/url`, { jwt, body: "{" })).toMatchObject({
    status: 400,
    value: { error: "invalid argument" },
  });
  expect(await send(base_url, "POST", `${at}/url`, { jwt, body: "[]" })).toMatchObject({
    status: 400,
    value: { error: "invalid argument" },
  });
  expect(await send(base_url, "PUT", `${at}/url`, { jwt, body: "{}" })).toMatchObject({
    status: 405,
    value: { error: "unknown method" },
  });
  const cookie = { cookie: { name: "a%b c", value: "1" } };
  await send(base_url, "POST", `${at}/url`, { jwt, body: JSON.stringify({ url: `${stack.url}/livez` }) });
  expect(await send(base_url, "POST", `${at}/cookie`, { jwt, body: JSON.stringify(cookie) })).toMatchObject({
    status: 200,
  });
  expect(await send(base_url, "GET", `${at}/cookie/a%25b%20c`, { jwt })).toMatchObject({
    status: 200,
    value: { value: "1" },
  });
  expect(await send(base_url, "GET", "status", { jwt })).toMatchObject({ status: 200, value: { ready: true } });
});

// WDC-6
test("a change that starts another Chromium ends its sessions", async () => {
  const { kernel } = stack;
  const profile = await kernel.profiles.create({});
  const { session_id: id, base_url = "", cdp_ws_url } = await kernel.browsers.create({ headless: true });
  const jwt = new URL(cdp_ws_url).searchParams.get("jwt") ?? "";
  const { value } = await send(base_url, "POST", "session", { jwt, body: newSession });
  await kernel.browsers.update(id, { profile: { id: profile.id } });
  expect(await send(base_url, "GET", `session/${value.sessionId}/title`, { jwt })).toMatchObject({
    status: 404,
    value: { error: "invalid session id" },
  });
  expect(await send(base_url, "POST", "session", { jwt, body: newSession })).toMatchObject({ status: 200 });
  await kernel.browsers.deleteByID(id);
  await kernel.profiles.delete(profile.id);
});

// WDC-15, TELEMETRY-5
test("telemetry notes each session as a client of WebDriver", async () => {
  const telemetry = { browser: { connection: { enabled: true } } };
  const {
    session_id,
    base_url = "",
    cdp_ws_url,
  } = await stack.kernel.browserPools.acquire(pool, {
    acquire_timeout_seconds: 60,
    telemetry,
  });
  const jwt = new URL(cdp_ws_url).searchParams.get("jwt") ?? "";
  const stream = await stack.kernel.browsers.telemetry.stream(session_id);
  const { value } = await send(base_url, "POST", "session", { jwt, body: newSession });
  await send(base_url, "DELETE", `session/${value.sessionId}`, { jwt });
  const seen: string[] = [];
  for await (const { event } of stream) {
    seen.push(event.type);
    if ((event.type as string) === "webdriver_disconnect") break;
  }
  expect(seen.filter((type) => type.startsWith("webdriver"))).toEqual(["webdriver_connect", "webdriver_disconnect"]);
  await stack.kernel.browserPools.release(pool, { session_id });
});

// WDC-13
test("neither logs nor the audit stream have the token, or what was sent", async () => {
  await using session = await acquired();
  const { base_url, jwt, withCredentials } = session;
  const driver = await new Builder().usingServer(withCredentials).forBrowser("chrome").build();
  await driver.get("data:text/html,canary-of-a-page<input>");
  await driver.findElement(By.css("input")).sendKeys("canary-of-a-text");
  await driver.quit();
  const wrong = `${jwt.slice(0, -6)}canary`;
  await send(base_url, "POST", "session", { jwt: wrong, body: newSession });
  const logs = () => logTexts(stack.dataDir);
  await eventually("the requests are logged", async () =>
    (await logs()).some((text) => text.includes("/gateway/{session}/session")),
  );
  const basic = Buffer.from(`jwt:${jwt}`).toString("base64");
  for (const text of await logs())
    for (const secret of [jwt, wrong, basic, "canary-of-a-page", "canary-of-a-text"])
      expect(text.includes(secret)).toBe(false);
});
