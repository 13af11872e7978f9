/**
 * The public clients of WebDriver BiDi at a `webdriver_ws_url`, each by its own interface: a request answered in place
 * of the server, keys, a click, the console, a preload script, a picture. docs/clients.md has how each connects.
 */
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebDriver from "webdriver";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let poolId: string;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const url = "http://shop.example/";
const page = `<!doctype html><title>Shop</title><input autofocus><button onclick="
  const { value } = document.querySelector('input');
  console.log('looked for ' + value);
  document.querySelector('p').textContent = window.greeting + value;
">Look</button><p></p>`;
const greet = "() => { window.greeting = 'found '; }";

/** What each client sees of the page after it typed "tea" and clicked. */
const seen = { title: "Shop", text: "found tea", consoleLines: ["looked for tea"], isPng: true };

const isPng = (base64: string): boolean => Buffer.from(base64, "base64").subarray(1, 4).toString() === "PNG";

type Seen = typeof seen;

const byPuppeteer = async (endpoint: string): Promise<Seen> => {
  const browser = await puppeteer.connect({ browserWSEndpoint: endpoint, protocol: "webDriverBiDi" });
  const tab = await browser.newPage();
  const consoleLines: string[] = [];
  tab.on("console", (message) => consoleLines.push(message.text()));
  await tab.setRequestInterception(true);
  tab.on("request", (request) => void request.respond({ contentType: "text/html", body: page }));
  await tab.evaluateOnNewDocument("window.greeting = 'found ';");
  await tab.goto(url);
  await tab.locator("input").fill("tea");
  await tab.locator("button").click();
  const text = await tab.$eval("p", (element) => element.textContent);
  const picture = await tab.screenshot({ encoding: "base64" });
  const result = { title: await tab.title(), text, consoleLines, isPng: isPng(picture) };
  await tab.close();
  await browser.disconnect();
  return result;
};

const bySelenium = async (endpoint: string): Promise<Seen> => {
  const require = createRequire(import.meta.url);
  const { Capabilities, Session, WebDriver: Driver } = require("selenium-webdriver");
  const [openContext, openLog, openInput, openScripts] = [
    ...["browsingContext", "logInspector", "input", "scriptManager"],
  ].map((name) => require(`selenium-webdriver/bidi/${name}`));
  const { Network } = require("selenium-webdriver/bidi/network");
  const { AddInterceptParameters } = require("selenium-webdriver/bidi/addInterceptParameters");
  const { BytesValue, Header } = require("selenium-webdriver/bidi/networkTypes");
  const { ProvideResponseParameters } = require("selenium-webdriver/bidi/provideResponseParameters");
  const { Locator } = openContext;
  const capabilities = new Capabilities({ browserName: "chrome", webSocketUrl: endpoint });
  const noHttp = { execute: () => Promise.reject(new Error("no HTTP")), defineCommand: () => undefined };
  const driver = new Driver(new Session("attached", capabilities), noHttp);
  const tab = await openContext(driver, { type: "tab" });
  const consoleLines: string[] = [];
  const log = await openLog(driver);
  await log.onConsoleEntry(({ text }: { text: string }) => consoleLines.push(text));
  const scripts = await openScripts(tab.id, driver);
  await scripts.addPreloadScript(greet);
  const network = await Network(driver);
  // Its callbacks get null for each event that is none of the network.
  await network.beforeRequestSent((event: { request: { request: string } } | null) => {
    if (!event) return;
    const answer = new ProvideResponseParameters(event.request.request)
      .statusCode(200)
      .headers([new Header("content-type", new BytesValue("string", "text/html"))])
      .body(new BytesValue("string", page));
    void network.provideResponse(answer);
  });
  await network.addIntercept(new AddInterceptParameters("beforeRequestSent"));
  await tab.navigate(url, "complete");
  const input = await openInput(driver);
  await input.perform(tab.id, driver.actions().sendKeys("tea").getSequences());
  const button = await tab.locateElement(Locator.css("button"));
  await input.perform(tab.id, driver.actions().click(button).getSequences());
  const textOf = async (expression: string): Promise<string> =>
    (await scripts.evaluateFunctionInBrowsingContext(tab.id, expression, false)).result.value;
  const [title, text] = [await textOf("document.title"), await textOf("document.querySelector('p').textContent")];
  const picture = await tab.captureScreenshot();
  await tab.close();
  await (await driver.getBidi()).close();
  return { title, text, consoleLines, isPng: isPng(picture) };
};

const byWebdriver = async (endpoint: string): Promise<Seen> => {
  const capabilities = { browserName: "chrome", webSocketUrl: endpoint } as unknown as WebdriverIO.Capabilities;
  const client = WebDriver.attachToSession({
    ...{ sessionId: "attached", capabilities, options: {} as never },
    logLevel: "error",
  });
  await (client as { _bidiHandler?: { waitForConnected(): Promise<unknown> } })._bidiHandler?.waitForConnected();
  const consoleLines: string[] = [];
  await client.sessionSubscribe({ events: ["log.entryAdded", "network.beforeRequestSent"] });
  client.on("log.entryAdded", ({ text }) => consoleLines.push(text ?? ""));
  client.on("network.beforeRequestSent", ({ request }) => {
    const headers = [{ name: "content-type", value: { type: "string" as const, value: "text/html" } }];
    const body = { type: "string" as const, value: page };
    void client.networkProvideResponse({ request: request.request, statusCode: 200, headers, body });
  });
  await client.networkAddIntercept({ phases: ["beforeRequestSent"] });
  await client.scriptAddPreloadScript({ functionDeclaration: greet });
  const { context } = await client.browsingContextCreate({ type: "tab" });
  await client.browsingContextNavigate({ context, url, wait: "complete" });
  const locator = { type: "css" as const, value: "button" };
  const [button] = (await client.browsingContextLocateNodes({ context, locator })).nodes;
  const keys = [..."tea"].flatMap((value) => [
    { type: "keyDown" as const, value },
    { type: "keyUp" as const, value },
  ]);
  await client.inputPerformActions({ context, actions: [{ type: "key", id: "keyboard", actions: keys }] });
  const origin = { type: "element" as const, element: { sharedId: button?.sharedId ?? "" } };
  const press = [
    { type: "pointerMove" as const, x: 0, y: 0, origin },
    { type: "pointerDown" as const, button: 0 },
    { type: "pointerUp" as const, button: 0 },
  ];
  await client.inputPerformActions({ context, actions: [{ type: "pointer", id: "mouse", actions: press }] });
  const textOf = async (expression: string): Promise<string> => {
    const answer = await client.scriptEvaluate({ expression, target: { context }, awaitPromise: false });
    return answer.type === "success" && answer.result.type === "string" ? answer.result.value : "";
  };
  const [title, text] = [await textOf("document.title"), await textOf("document.querySelector('p').textContent")];
  const { data } = await client.browsingContextCaptureScreenshot({ context });
  await client.browsingContextClose({ context });
  await client.sessionEnd({});
  return { title, text, consoleLines, isPng: isPng(data) };
};

describe("a session's webdriver_ws_url is driven by", () => {
  // LEASE-13
  test.each([
    ["Puppeteer", byPuppeteer],
    ["selenium-webdriver", bySelenium],
    ["webdriver", byWebdriver],
  ])("%s", async (_client, drive) => {
    const { session_id, webdriver_ws_url } = await stack.kernel.browserPools.acquire(poolId, {
      acquire_timeout_seconds: 60,
    });
    try {
      expect(await drive(webdriver_ws_url)).toEqual(seen);
    } finally {
      await stack.kernel.browserPools.release(poolId, { session_id });
    }
  });
});
