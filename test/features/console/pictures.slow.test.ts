/**
 * Each view of the console as people see it: light, dark and narrow, with something in it. `BROWSERPOOL_PICTURES=1`
 * writes the pictures of `docs/console-views.md`.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { permissions } from "../../../src/core/model/permission.ts";
import { BrowserPoolSpec, browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { startViewBrowser, type ViewBrowser } from "../../support/view-page.ts";
import { visit } from "../../support/visit.ts";
import { follow, openAs, press } from "./console-actions.ts";
import { untilText } from "./console-page.ts";
import { createAnalysis, createSite } from "./known-site.ts";
import { makeBlocks, makeBy, makeLogin } from "./shown-objects.ts";

const docs = resolve(import.meta.dirname, "../../../docs");
const folder = join(docs, "images/console");
const isWriting = process.env.BROWSERPOOL_PICTURES === "1";

const host = "www.shop.example";

/** `shows`: what is there when all of the view is. `prepare`: what a person does first. */
type Picture = { name: string; path: string; shows: RegExp; prepare?: (page: Page) => Promise<unknown> };

let stack: LocalProject;
let viewers: ViewBrowser;
let pictures: Picture[];

const shopPage = (title: string, colour: string): string =>
  `data:text/html,<title>${title}</title><body style="margin:0;font:28px sans-serif;background:${colour}"><h1 style="padding:1em;background:white">${title}</h1>`;

/** Something goes wrong in it. */
const troubledPage =
  'data:text/html,<script>console.error("the card was declined");fetch("http://127.0.0.1:3/stock").catch(()=>0)</script>';

const telemetry = {
  browser: Object.fromEntries(["console", "network", "page", "system"].map((name) => [name, { enabled: true }])),
};

/** A pool whose browsers are at work, with a caller that waits. */
const startShop = async (): Promise<{ pool: string; session: string }> => {
  const { kernel } = stack;
  const pool = await filledPool(kernel, { name: "checkout", size: 2, viewport: { width: 1024, height: 640 } });
  const sessions = [];
  for (const [name, colour] of [
    ["order-4711", "seagreen"],
    ["order-4712", "steelblue"],
  ] as const) {
    const session = await kernel.browserPools.acquire(pool.id, {
      ...{ name, tags: { team: "shop", step: "payment" }, start_url: shopPage(name, colour), telemetry },
    } as object);
    sessions.push(session);
  }
  for (const { cdp_ws_url } of sessions) await visit(cdp_ws_url, troubledPage);
  const waits = kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 600, name: "order-4713" } as object);
  waits.catch(() => undefined);
  return { pool: pool.id, session: sessions[0]?.session_id ?? "" };
};

beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  await createSite(stack.kube, host, "Scroll to the end of the page before you press anything.");
  const analysis = await createAnalysis(stack.kube, host, `https://${host}/`);
  const key = await makeBy(stack, "POST", "/org/api_keys", {
    ...{ name: "robot", project_id: stack.project, permissions: ["pools:read", "browsers:use"] },
  });
  const { credential, login } = await makeLogin(stack);
  await stack.kernel.auth.connections.create({ domain: "bank.example", profile_name: "bob" });
  const { profile, proxy, extension, destination } = await makeBlocks(stack);
  const { pool, session } = await startShop();
  // The API refuses it itself; the operator says why it does.
  await stack.kube.create(browserPoolKind, {
    metadata: { name: "too-large", namespace: stack.namespace },
    spec: BrowserPoolSpec.parse({ name: "too-large", size: 100_000 }),
  });
  const list = (name: string, shows: RegExp): Picture => ({ name, path: `/${name}`, shows });
  pictures = [
    list("needs-you", /too-large[\s\S]*bank\.example/),
    list("pools", /checkout[\s\S]*too-large|too-large[\s\S]*checkout/),
    { name: "pool-form", path: "/pools", shows: /Fill rate/, prepare: (page) => press(page, "Make a pool") },
    { name: "pool", path: `/pools/${pool}`, shows: /order-4713[\s\S]*order-4711/ },
    list("sessions", /order-4712[\s\S]*order-4711/),
    { name: "wall", path: "/sessions?as=wall", shows: /order-4711[\s\S]*order-4712/ },
    { name: "session", path: `/sessions/${session}`, shows: /Console\s+the card was declined/ },
    list("vaults", /team/),
    { name: "vault", path: "/vaults/team", shows: /shop/ },
    { name: "vault-item", path: "/vaults/team/items/shop", shows: /Put in/ },
    list("logins", /bank\.example/),
    { name: "login", path: `/logins/${login}`, shows: /alice/ },
    list("credentials", /shop\.example/),
    { name: "credential", path: `/credentials/${credential}`, shows: /shop\.example/ },
    list("sites", /www\.shop\.example/),
    { name: "site", path: `/sites/host/${host}`, shows: /Scroll to the end/ },
    { name: "analysis", path: `/sites/analyses/${analysis}`, shows: /challenge/i },
    list("profiles", /carol/),
    { name: "profile", path: `/profiles/${profile}`, shows: /carol/ },
    list("proxies", /office/),
    { name: "proxy", path: `/proxies/${proxy}`, shows: /office/ },
    list("extensions", /translator/),
    { name: "extension", path: `/extensions/${extension}`, shows: /translator/ },
    list("telemetry", /otel/),
    { name: "destination", path: `/telemetry/${destination}`, shows: /otel/ },
    list("api-keys", /robot/),
    { name: "api-key", path: `/api-keys/${key.id}`, shows: /robot/ },
    list("projects", new RegExp(stack.project)),
    { name: "project", path: `/projects/${stack.project}`, shows: /Limits|limits/ },
    list("limits", /Browsers|browsers/),
    list("audit", /acquireBrowser/),
  ];
});
afterAll(async () => {
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const looks = [
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 1280 },
  { scheme: "light", width: 360 },
] as const;

/** The three pictures of a view as it is now, as PNG. */
const take = async (page: Page): Promise<string[]> => {
  const taken: string[] = [];
  for (const { scheme, width } of looks) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width, height: 800 });
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    taken.push(await page.screenshot({ encoding: "base64" }));
  }
  await page.setViewport({ width: 1280, height: 800 });
  return taken;
};

/** Writes them beside each other as one picture. */
const write = async (name: string, taken: readonly string[]): Promise<void> => {
  const sheet = await viewers.browser.newPage();
  await sheet.setViewport({ width: 1670, height: 445 });
  const images = taken.map((png) => `<img height=445 src="data:image/png;base64,${png}">`).join("");
  await sheet.setContent(`<body style="margin:0;display:flex;gap:12px;background:gray">${images}`);
  await sheet.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.webp`), await sheet.screenshot({ type: "webp", quality: 70 }));
  await sheet.close();
};

test("each view has something to show, light, dark and narrow, and a picture in the docs", async () => {
  const path = `/pools?project=${stack.project}`;
  const { page, faults } = await openAs(viewers, stack, { permissions, path });
  for (const { name, path: address, shows, prepare } of pictures) {
    await follow(page, `${address}${address.includes("?") ? "&" : "?"}project=${stack.project}`);
    await prepare?.(page);
    await untilText(page, shows, prepare ? "dialog[open]" : "main");
    await untilText(page, /^(?![\s\S]*(Reading …|Loading …))/);
    if (name === "wall")
      await page.waitForFunction("document.querySelectorAll('.tile canvas:not(.unseen)').length === 2");
    const taken = await take(page);
    expect(new Set(taken).size, `${name}: its looks differ`).toBe(looks.length);
    if (isWriting) await write(name, taken);
    if (prepare) await page.keyboard.press("Escape");
  }
  expect(faults).toEqual([]);
  const text = await readFile(join(docs, "console-views.md"), "utf8");
  const named = [...text.matchAll(/\(images\/console\/([\w-]+)\.webp\)/g)].map(([, name]) => name);
  const files = (await readdir(folder)).map((file) => file.replace(/\.webp$/, ""));
  const names = pictures.map(({ name }) => name).sort();
  expect([named.sort(), files.sort()]).toEqual([names, names]);
}, 300_000);
