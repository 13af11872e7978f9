/** The hands of a session, as the SDK reaches them. */
import { NotFoundError } from "@onkernel/sdk";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let pool: string;
beforeAll(async () => {
  stack = await startStack();
  pool = (await filledPool(stack.kernel, { size: 1 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

// HANDS-1, HANDS-2, HANDS-3, HANDS-4, HANDS-5
test("the SDK clicks, types, scrolls, reads the clipboard and takes a picture", async () => {
  const { computer } = stack.kernel.browsers;
  const { session_id: id, cdp_ws_url } = await stack.kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
  const browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  const page = await browser.newPage();
  await page.setContent("<style>body { margin: 0; height: 5000px }</style><textarea></textarea>");
  const text = () => page.evaluate("document.querySelector('textarea').value");
  await computer.clickMouse(id, { x: 10, y: 10 });
  await computer.typeText(id, { text: "Hi 😀" });
  expect(await text()).toBe("Hi 😀");
  await computer.pressKey(id, { keys: ["Ctrl+a", "Ctrl+c", "End"] });
  expect(await computer.readClipboard(id)).toEqual({ text: "Hi 😀" });
  await computer.writeClipboard(id, { text: "!" });
  await computer.batch(id, { actions: [{ type: "press_key", press_key: { keys: ["Ctrl+v"] } }] });
  await eventually("it is pasted", async () => (await text()) === "Hi 😀!");
  await computer.moveMouse(id, { x: 300, y: 200 });
  await computer.dragMouse(id, {
    path: [
      [300, 200],
      [320, 220],
    ],
  });
  expect(await computer.getMousePosition(id)).toEqual({ x: 320, y: 220 });
  await computer.scroll(id, { x: 300, y: 300, delta_y: 2 });
  await eventually("it has scrolled", async () => (await page.evaluate("scrollY")) === 240);
  expect(await computer.setCursorVisibility(id, { hidden: true })).toEqual({ ok: true });
  const picture = await computer.captureScreenshot(id, { region: { x: 0, y: 0, width: 10, height: 20 } });
  expect(picture.headers.get("content-type")).toBe("image/png");
  const png = Buffer.from(await picture.arrayBuffer());
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([10, 20]);
  // Without a body, as a client sends that asks for nothing in particular.
  expect((await computer.captureScreenshot(id)).status).toBe(200);
  await browser.disconnect();
  await stack.kernel.browserPools.release(pool, { session_id: id });

  // HANDS-9
  await expect(computer.getMousePosition(id)).rejects.toThrow(NotFoundError);
  await expect(computer.typeText("nobody", { text: "x" })).rejects.toThrow(NotFoundError);
});
