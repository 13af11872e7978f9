/** The page of the live view in a second real browser, over the real service: what a person sees and does. */
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings } from "../../support/axe-findings.ts";
import { type BreakableLink, startBreakableLink } from "../../support/breakable-link.ts";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import {
  openView,
  placeOf,
  startViewBrowser,
  statusOf,
  untilColour,
  untilStatus,
  type ViewBrowser,
} from "../../support/view-page.ts";

type Session = Awaited<ReturnType<LocalProject["kernel"]["browserPools"]["acquire"]>> & {
  browser_live_view_read_only_url?: string;
};

const form = `data:text/html,<title>form</title><body style="margin:0;background:rgb(0,160,0)">
  <input id=text style="position:absolute;left:20px;top:20px;width:400px;height:40px">
  <input id=slider type=range min=0 max=100 value=0 style="position:absolute;left:20px;top:100px;width:400px;margin:0">
  <p id=card draggable=true style="position:absolute;left:20px;top:150px;width:100px;height:40px">card</p>
  <p id=target style="position:absolute;left:300px;top:150px;width:100px;height:40px">-</p>
  <p id=touched style="position:absolute;left:20px;top:250px;width:100px;height:40px">-</p>
  <script>
    card.ondragstart = (e) => e.dataTransfer.setData("text/plain", "the card");
    target.ondragover = (e) => e.preventDefault();
    target.ondrop = (e) => { e.preventDefault(); target.textContent = e.dataTransfer.getData("text/plain"); };
    touched.addEventListener("touchstart", () => { touched.textContent = "touched"; });
  </script>`;
const coloured = (title: string, colour: string): string =>
  `data:text/html,<title>${title}</title><body style="background:${colour}">`;

let stack: LocalProject;
let viewers: ViewBrowser;
let link: BreakableLink;
let session: Session;
let holder: Browser;
let page: Page;
beforeAll(async () => {
  stack = await startProject();
  viewers = await startViewBrowser();
  link = await startBreakableLink(Number(new URL(stack.url).port));
  const pool = await filledPool(stack.kernel, { viewport: { width: 1000, height: 600 } });
  session = await stack.kernel.browserPools.acquire(pool.id, {});
  holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  page = (await holder.pages())[0] ?? (await holder.newPage());
  await page.goto(form);
});
afterAll(async () => {
  await holder?.disconnect();
  link?.close();
  await viewers?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const url = (): string => session.browser_live_view_url ?? "";
const textIn = (selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as unknown as { value: string }).value);
const untilText = (selector: string, wanted: string): Promise<string> =>
  eventually(`${selector} has ${wanted}`, async () => (await textIn(selector)) === wanted && wanted);
const shown = (view: Page, selector: string): Promise<string> =>
  view.$eval(selector, (element) => (element as unknown as { value: string }).value);

describe("a person", () => {
  let view: Page;
  beforeAll(async () => {
    view = await openView(viewers, url());
    await untilColour(view, "green");
  });
  afterAll(() => view?.close());

  const click = async (x: number, y: number, options = {}): Promise<void> => {
    const place = await placeOf(view, { x, y });
    await view.mouse.click(place.x, place.y, options);
  };

  const chooseTab = async (title: string): Promise<void> => {
    await view.locator(`::-p-xpath(//button[text()="${title}"])`).click();
  };

  test("finds nothing in the way of assistive programs, light and dark", async () => {
    for (const value of ["light", "dark"]) {
      await view.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
      expect(await axeFindings(view), value).toEqual([]);
    }
    await view.emulateMediaFeatures();
  });

  // LEASE-12, VIEW-3
  test("types, with modifiers, and an input method's text", async () => {
    await click(100, 40);
    await view.keyboard.type("Ab 1");
    await untilText("#text", "Ab 1");
    await view.keyboard.down("Control");
    await view.keyboard.press("a");
    await view.keyboard.up("Control");
    await view.keyboard.press("Backspace");
    await untilText("#text", "");
    const ime = await view.createCDPSession();
    await ime.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
    await untilText("#text", "に");
    await ime.send("Input.insertText", { text: "日本" });
    await untilText("#text", "日本");
  });

  // VIEW-3
  test("drags a slider and a draggable element, and touches", async () => {
    const drag = async (from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> => {
      const [begin, end] = [await placeOf(view, from), await placeOf(view, to)];
      await view.mouse.move(begin.x, begin.y);
      await view.mouse.down();
      for (const part of [0.2, 0.5, 0.8, 1]) {
        await view.mouse.move(begin.x + (end.x - begin.x) * part, begin.y + (end.y - begin.y) * part);
        // A person's hand is no faster than the screen.
        await view.evaluate("new Promise(requestAnimationFrame)");
      }
      await view.mouse.up();
    };
    await drag({ x: 28, y: 108 }, { x: 220, y: 108 });
    await eventually("the slider has moved", async () => Number(await textIn("#slider")) > 30);
    await drag({ x: 40, y: 175 }, { x: 340, y: 175 });
    await eventually("the card was dropped", async () => {
      return (await page.$eval("#target", ({ textContent }) => textContent)) === "the card";
    });
    const place = await placeOf(view, { x: 40, y: 275 });
    await view.touchscreen.tap(place.x, place.y);
    await eventually("the page was touched", async () => {
      return (await page.$eval("#touched", ({ textContent }) => textContent)) === "touched";
    });
  });

  // VIEW-4
  test("copies out of the page, and pastes into it", async () => {
    await page.$eval("#text", (element) => {
      (element as unknown as { value: string }).value = "from the browser";
    });
    await click(100, 40, { count: 3 });
    await view.keyboard.down("Control");
    await view.keyboard.press("c");
    await view.keyboard.up("Control");
    await eventually("the text is in the person's clipboard", async () => {
      return (await view.evaluate("navigator.clipboard.readText()")) === "from the browser";
    });
    await view.evaluate('navigator.clipboard.writeText("to the browser ✓")');
    await view.keyboard.down("Control");
    await view.keyboard.press("v", { commands: ["paste"] });
    await view.keyboard.up("Control");
    await untilText("#text", "to the browser ✓");
    await view.click("#paste");
    await untilText("#text", "to the browser ✓to the browser ✓");
  });

  // VIEW-5
  test("opens, chooses and closes tabs, which stay where they are for the holder, and goes to an address", async () => {
    const other = await holder.newPage();
    await other.goto(coloured("other", "rgb(200,0,0)"));
    await chooseTab("other");
    await untilColour(view, "red");
    await chooseTab("form");
    await untilColour(view, "green");
    // The tab in front is still the holder's choice.
    expect(await other.evaluate("document.visibilityState")).toBe("visible");
    await view.click("#open-tab");
    await eventually("there are three tabs", async () => (await holder.pages()).length === 3);
    await untilStatus(view, /^$/);
    await view.click("#url");
    await eventually(
      "its text is selected",
      async () => (await view.evaluate("url.selectionEnd > url.selectionStart")) === true,
    );
    await view.type("#url", new URL("/openapi.json", stack.url).href);
    await view.keyboard.press("Enter");
    await eventually("the new tab is there", async () => {
      return (await holder.pages()).some((tab) => tab.url().endsWith("/openapi.json"));
    });
    for (const name of ["openapi", "other"]) await view.locator(`[aria-label^=Close][aria-label*=${name}]`).click();
    await eventually("one tab is left", async () => (await holder.pages()).length === 1);
    await untilColour(view, "green");
  });

  // VIEW-5
  test("chooses a tab by a press during which the list changes", async () => {
    const other = await holder.newPage();
    await other.goto(coloured("pressed", "rgb(200,0,0)"));
    await chooseTab("form");
    const tab = await view.waitForSelector("#tabs li:last-child button");
    await tab?.hover();
    await view.mouse.down();
    await other.evaluate("document.title = 'renamed'");
    await view.waitForSelector("[aria-label='Close renamed']");
    await view.mouse.up();
    await untilColour(view, "red");
    await other.close();
    await untilColour(view, "green");
  });

  // VIEW-6
  test("answers a dialog of the page, and leaves the captured keyboard", async () => {
    const answer = page.evaluate('prompt("Your name?", "nobody")');
    answer.catch(() => undefined);
    await view.waitForSelector("#page-dialog[open]");
    expect(await shown(view, "#page-dialog-input")).toBe("nobody");
    await view.keyboard.type("somebody");
    await view.keyboard.press("Enter");
    expect(await answer).toBe("somebody");
    await view.focus("#keyboard");
    for (const key of ["Control", "Alt", "Shift"] as const) await view.keyboard.down(key);
    for (const key of ["Control", "Alt", "Shift"] as const) await view.keyboard.up(key);
    expect(await view.evaluate("document.activeElement.id")).toBe("url");
    const tree = await view.accessibility.snapshot();
    const names = JSON.stringify(tree);
    for (const name of [
      "Back",
      "Forward",
      "Reload",
      "Address of the shown tab",
      "The remote browser: keyboard and mouse",
    ])
      expect(names).toContain(`"${name}"`);
  });
});

// VIEW-7
test("a read-only view shows the browser and has nothing that acts on it", async () => {
  for (const readOnly of [session.browser_live_view_read_only_url ?? "", `${url()}&readOnly=true`]) {
    const view = await openView(viewers, readOnly);
    await untilColour(view, "green");
    expect(await view.$("#keyboard, #address, #open-tab, [aria-label^=Close]")).toBeNull();
    await view.close();
  }
  // Without the words that hide the controls, the token is still read-only, and the page with it.
  const bare = await openView(viewers, (session.browser_live_view_read_only_url ?? "").replace("&readOnly=true", ""));
  expect(await bare.$("#keyboard")).toBeNull();
  await bare.close();
});

// VIEW-8
test("a view whose connection breaks says so and comes back; when the session ends, it says that", async () => {
  const through = new URL(url());
  through.port = String(link.port);
  const view = await openView(viewers, through.href);
  await untilColour(view, "green");
  link.freeze();
  link.cut();
  await untilStatus(view, /broke/);
  await page.evaluate("document.body.style.background = 'rgb(0,0,200)'");
  link.thaw();
  link.cut();
  await untilColour(view, "blue");
  expect(await statusOf(view)).toBe("");
  await stack.kernel.browsers.deleteByID(session.session_id);
  await untilStatus(view, /The session has ended/);
  const answer = await fetch(url());
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain("The session has ended");
});
