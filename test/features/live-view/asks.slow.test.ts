/** What the page of the browser asks its person for, in the page of the live view in a second real browser. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser, type Dialog, type ElementHandle, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import {
  openView,
  placeOf,
  startViewBrowser,
  untilColour,
  untilStatus,
  type ViewBrowser,
} from "../../support/view-page.ts";
import { openViewer } from "../../support/viewer-socket.ts";

const at = (top: number): string => `style="position:absolute;left:20px;top:${top}px;width:200px;height:40px;margin:0"`;
const fields = `<title>fields</title><body style="margin:0;background:rgb(0,160,0)">
  <select id=choice ${at(20)}><option>one<option disabled>two<optgroup label=group><option>three<option>four</optgroup></select>
  <input id=colour type=color value=#000000 ${at(80)}>
  <input id=files type=file multiple ${at(140)}>
  <input id=date type=date ${at(200)}><input id=time type=time ${at(260)}>
  <input id=month type=month ${at(320)}><input id=moment type=datetime-local ${at(380)}>
  <script>
    globalThis.heard = [];
    globalThis.pressed = [];
    for (const type of ["contextmenu", "click"]) addEventListener(type, () => pressed.push(type));
    for (const field of document.querySelectorAll("select, input"))
      field.addEventListener("change", ({ isTrusted }) => heard.push(field.id + " " + field.value.split("\\\\").at(-1) + " " + isTrusted));
  </script>`;

let stack: LocalProject;
let viewers: ViewBrowser;
let site: Server;
let siteUrl: string;
let holder: Browser;
let page: Page;
let view: Page;
let session: Awaited<ReturnType<LocalProject["kernel"]["browserPools"]["acquire"]>> & {
  browser_live_view_read_only_url?: string;
};
const url = (): string => session.browser_live_view_url ?? "";
const heard = (): Promise<string[]> => page.evaluate("heard") as Promise<string[]>;
const untilHeard = (wanted: string): Promise<true | undefined> =>
  eventually(`the page heard ${wanted}`, async () => (await heard()).includes(wanted) || undefined);

beforeAll(async () => {
  site = createServer((request, response) => {
    const isIn = request.headers.authorization === `Basic ${btoa("ann:secret")}`;
    if (request.url === "/login" && !isIn)
      return response
        .writeHead(401, { "www-authenticate": `Basic realm="trust me"`, "content-type": "text/html" })
        .end("no");
    return response.setHeader("content-type", "text/html").end(request.url === "/login" ? "<title>in</title>" : fields);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  stack = await startProject();
  viewers = await startViewBrowser();
  const pool = await filledPool(stack.kernel, { viewport: { width: 800, height: 500 } });
  session = await stack.kernel.browserPools.acquire(pool.id, {});
  holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  page = (await holder.pages())[0] ?? (await holder.newPage());
  await page.goto(siteUrl);
  view = await openView(viewers, url());
  await untilColour(view, "green");
});
afterAll(async () => {
  await view?.close();
  await holder?.disconnect();
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
  site?.closeAllConnections();
  site?.close();
});

const click = async (y: number, x = 100, button: "left" | "right" = "left"): Promise<void> => {
  const place = await placeOf(view, { x, y });
  await view.mouse.click(place.x, place.y, { button });
};
const untilAsked = async (): Promise<void> => {
  await view.waitForSelector("#ask-dialog[open]");
  expect(await view.$eval("#ask-site", ({ textContent }) => textContent)).toBe(siteUrl);
};
const confirm = (): Promise<void> => view.click("#ask-dialog [value=done]");

// VIEW-13
test("the list of a select is offered, and the choice is a person's input for the page", async () => {
  await click(40);
  await untilAsked();
  const list = await view.$$eval("#ask-fields option", (options) =>
    (options as unknown as { label: string; disabled: boolean }[]).map(({ label, disabled }) => `${label} ${disabled}`),
  );
  expect(list).toEqual(["one false", "two true", "three false", "four false"]);
  await view.select("#ask-fields select", "3");
  await confirm();
  await untilHeard("choice four true");
  await click(40);
  await untilAsked();
  await view.click("#ask-dialog [value=cancel]");
  await eventually("it is closed", async () => (await view.$("#ask-dialog[open]")) === null);
  expect((await heard()).length).toBe(1);
});

// VIEW-13
test("a colour is chosen", async () => {
  await click(100);
  await untilAsked();
  await view.$eval("#ask-fields input", (input) => {
    (input as unknown as { value: string }).value = "#ff8800";
  });
  await confirm();
  await untilHeard("colour #ff8800 false");
});

// VIEW-13
test.each([
  ["date", "date", "2027-03-04", 220],
  ["time", "time", "12:34", 280],
  ["month", "month", "2027-05", 340],
  ["moment", "datetime-local", "2027-03-04T05:06", 400],
])("a %s is chosen", async (id, type, value, y) => {
  // Where the field has its button.
  await click(y, 207);
  await untilAsked();
  expect(await view.$eval("#ask-fields input", (input) => input.getAttribute("type"))).toBe(type);
  await view.$eval(
    "#ask-fields input",
    (input, wanted) => {
      (input as unknown as { value: string }).value = wanted;
    },
    value,
  );
  await confirm();
  await untilHeard(`${id} ${value} false`);
});

// VIEW-13
test("a click of the right button reaches the page, and takes nothing from what follows", async () => {
  await click(40, 600, "right");
  await click(40, 600);
  await eventually(
    "both are heard",
    async () => String(await page.evaluate("pressed.slice(-2)")) === "contextmenu,click" || undefined,
  );
  await click(40);
  await untilAsked();
  await view.click("#ask-dialog [value=cancel]");
});

// VIEW-13
test("files of the person's machine reach the page, after the site that asks was named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "person-"));
  try {
    const path = join(folder, "note.txt");
    await writeFile(path, "x".repeat(300_000));
    await click(160);
    await untilAsked();
    await ((await view.$("#ask-fields input")) as ElementHandle<never>).uploadFile(path);
    await confirm();
    await untilHeard("files note.txt true");
    expect(await page.evaluate("files.files[0].text().then((text) => text.length)")).toBe(300_000);
  } finally {
    await rm(folder, { recursive: true });
  }
});

// VIEW-14
test("a client that intercepts choosers answers them, and no viewer is asked any more", async () => {
  const folder = await mkdtemp(join(tmpdir(), "client-"));
  try {
    const path = join(folder, "client.txt");
    await writeFile(path, "of the client");
    const chooser = page.waitForFileChooser();
    // The page has the client's wish when it has answered what came after it.
    await page.evaluate("0");
    await click(160);
    await (await chooser).accept([path]);
    await untilHeard("files client.txt true");
    await eventually("nothing is asked", async () => (await view.$("#ask-dialog[open]")) === null);
  } finally {
    await rm(folder, { recursive: true });
  }
});

// VIEW-13
test("a login of HTTP is asked for by the origin, and given or refused", async () => {
  const load = page.goto(`${siteUrl}/login`).catch(() => undefined);
  await untilAsked();
  expect(await view.$eval("#ask-dialog", ({ textContent }) => textContent)).not.toContain("trust me");
  await view.type("#ask-fields input[type=text]", "ann");
  await view.type("#ask-fields input[type=password]", "secret");
  await confirm();
  await load;
  await eventually("the page is in", async () => (await page.title()) === "in");
  await page.goto(siteUrl);
});

// VIEW-14
test("a login that a client gives is not asked for", async () => {
  const other = await holder.newPage();
  const viewer = await openViewer(url());
  await other.authenticate({ username: "ann", password: "secret" });
  await other.goto(`${siteUrl}/login?client`);
  expect(await other.evaluate("document.body.innerHTML")).not.toBe("no");
  expect(viewer.asks()).toEqual([]);
  await viewer.close();
  await other.close();
});

// VIEW-6
test("a dialog names its site, and with viewers who only watch it does not stand for long", async () => {
  const answer = page.evaluate("confirm('sure?')");
  await view.waitForSelector("#page-dialog[open]");
  expect(await view.$eval("#page-dialog-site", ({ textContent }) => textContent)).toBe(siteUrl);
  await view.click("#page-dialog-accept");
  expect(await answer).toBe(true);
  await view.close();
  const watcher = await openViewer(session.browser_live_view_read_only_url ?? "");
  await eventually("it sees the page", () => watcher.latest());
  const startMs = performance.now();
  expect(await page.evaluate("confirm('sure?')")).toBe(false);
  // Less than what people have.
  expect(performance.now() - startMs).toBeLessThan(29_000);
  await watcher.close();
});

// VIEW-15
test("a page that stands still since before the view says so", async () => {
  // A tab that no view has had, so that none can hear of its dialog while it leaves.
  const other = await holder.newPage();
  await other.goto(siteUrl);
  const opened = new Promise<Dialog>((resolve) => other.once("dialog", resolve));
  const answer = other.evaluate("alert('before')");
  const dialog = await opened;
  view = await openView(viewers, url());
  await untilStatus(view, /does not answer/);
  // The client that has heard of it can answer.
  await dialog.accept();
  await answer;
  await untilStatus(view, /^$/);
  await untilColour(view, "green");
  await other.close();
});

// VIEW-16
test("a page that has crashed is said to, and seen again when a person reloads it", async () => {
  const other = await holder.newPage();
  await other.goto(siteUrl);
  const viewed = await openView(viewers, url());
  await untilColour(viewed, "green");
  const cdp = await other.createCDPSession();
  // A process that is gone does not answer.
  cdp.send("Page.crash").catch(() => undefined);
  await untilStatus(viewed, /has crashed/);
  await viewed.click("#reload");
  await untilStatus(viewed, /^$/);
  await untilColour(viewed, "green");
  await viewed.close();
});

// VIEW-15
test("another site ends a dialog that was open before the view", async () => {
  // Else it has heard of the dialog.
  await view.close();
  const other = await holder.newPage();
  await other.goto(siteUrl);
  const opened = new Promise<Dialog>((resolve) => other.once("dialog", resolve));
  // It ends with its page.
  other.evaluate("alert('before')").catch(() => undefined);
  await opened;
  view = await openView(viewers, url());
  await untilStatus(view, /does not answer/);
  await view.click("#url", { count: 3 });
  await view.type("#url", siteUrl.replace("127.0.0.1", "localhost"));
  await view.keyboard.press("Enter");
  await untilStatus(view, /^$/);
  await untilColour(view, "green");
});

// VIEW-13
test("a headful browser, which would open windows on its screen, asks in the view as well", async () => {
  await view.close();
  const pool = await filledPool(stack.kernel, { headless: false, viewport: { width: 800, height: 500 } });
  session = await stack.kernel.browserPools.acquire(pool.id, {});
  const headful = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  page = (await headful.pages())[0] ?? (await headful.newPage());
  await page.goto(siteUrl);
  view = await openView(viewers, url());
  await untilColour(view, "green");
  await click(40);
  await untilAsked();
  await view.select("#ask-fields select", "3");
  await confirm();
  await untilHeard("choice four true");
  // Chromium's own menu opens, and goes with the next click.
  await click(40, 600, "right");
  await click(40, 600);
  await click(40, 600);
  await eventually("a click is heard", async () => (await page.evaluate("pressed.at(-1)")) === "click" || undefined);
  await click(220, 207);
  await untilAsked();
  await view.click("#ask-dialog [value=cancel]");
  await headful.disconnect();
});
