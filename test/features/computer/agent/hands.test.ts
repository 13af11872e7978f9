/** What a holder's hands do, on both kinds of browser: a page notes what reaches it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialog, Page } from "puppeteer-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { decodePng } from "../../../../src/features/computer/agent/png.ts";
import { createTestAgents, type TestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { type HeldHands, holdHands, showNoting } from "./hands.ts";

const phone = { width: 390, height: 844 };
const desk = { width: 2560, height: 1440 };

/** Without a screen, the page is the screen. */
describe.each([
  { headless: true, viewport: phone },
  { headless: true, viewport: desk },
  { headless: false, viewport: phone },
  { headless: false, viewport: desk },
])("headless: $headless, $viewport.width×$viewport.height", ({ headless, viewport }) => {
  let agents: TestAgents;
  let hands: HeldHands;
  beforeAll(async () => {
    agents = createTestAgents();
    hands = await holdHands(agents, { headless, viewport });
  });
  afterAll(() => agents?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await hands.page.evaluate("scrollTo(0, 0); document.querySelector('textarea').value = ''");
    await hands.noted();
  });

  const click = async (x: number, y: number, more: object = {}, page?: Page): Promise<unknown> =>
    hands.done("click_mouse", { ...(await hands.onScreen(x, y, page)), ...more });
  const focus = async (): Promise<void> => {
    await click(50, 50);
    await eventually("the field has the focus", () =>
      hands.page.evaluate("document.hasFocus() && document.activeElement.id === 'field'"),
    );
    await hands.noted();
  };
  const clipboard = async (): Promise<string> => ((await hands.done("clipboard/read")) as { text: string }).text;

  // HANDS-1
  test("the mouse clicks where it is told, with each button and with keys held", async () => {
    await click(60, 140);
    await hands.awaitNoted(
      ["mousedown", "mouseup", "click"],
      [
        ["mousedown", 0, 60, 140, 1, ""],
        ["mouseup", 0, 60, 140, 1, ""],
        ["click", 0, 60, 140, 1, ""],
      ],
    );
    await click(61, 141, { num_clicks: 2, hold_keys: ["Ctrl"] });
    await hands.awaitNoted(
      ["click", "dblclick", "keydown", "keyup"],
      [
        ["keydown", "Control", "ControlLeft", "ctrl"],
        ["click", 0, 61, 141, 1, "ctrl"],
        ["click", 0, 61, 141, 2, "ctrl"],
        ["dblclick", 0, 61, 141, 2, "ctrl"],
        ["keyup", "Control", "ControlLeft", ""],
      ],
    );
    await click(62, 142, { button: "right" });
    await hands.awaitNoted(["contextmenu"], [["contextmenu", 2, 62, 142, expect.anything(), ""]]);
    await click(62, 142, { button: "middle" });
    await hands.awaitNoted(["auxclick"], expect.arrayContaining([["auxclick", 1, 62, 142, 1, ""]]));
    await click(viewport.width - 30, 300);
    await hands.awaitNoted(["click"], [["click", 0, viewport.width - 30, 300, 1, ""]]);
  });

  // HANDS-1
  test("a button that is held stays so until it is released", async () => {
    await click(100, 300, { click_type: "down" });
    await hands.done("move_mouse", await hands.onScreen(150, 320));
    await click(150, 320, { click_type: "up" });
    await hands.awaitNoted(
      ["mousedown", "mousemove", "mouseup"],
      expect.arrayContaining([
        ["mousedown", 0, 100, 300, 1, ""],
        ["mousemove", 150, 320, 1],
        ["mouseup", 0, 150, 320, 1, ""],
      ]),
    );
    expect(await hands.done("get_mouse_position")).toEqual(await hands.onScreen(150, 320));
  });

  // HANDS-1
  test("a smooth move goes through many places, and a drag has its button held all the way", async () => {
    await hands.done("move_mouse", await hands.onScreen(20, 250));
    await hands.awaitNoted(["mousemove"], [["mousemove", 20, 250, 0]]);
    await hands.done("move_mouse", { ...(await hands.onScreen(360, 600)), smooth: true, duration_ms: 400 });
    const there = expect.arrayContaining([["mousemove", 360, 600, 0]]);
    const moves = await hands.awaitNoted(["mousemove"], there);
    expect(moves.length).toBeGreaterThan(10);
    // Not straight.
    expect(moves.some(([, x, y]) => Math.abs(Number(y) - 250 - (Number(x) - 20) * (350 / 340)) > 3)).toBe(true);
    const [from, to] = [await hands.onScreen(300, 300), await hands.onScreen(350, 400)];
    await hands.done("drag_mouse", { path: [from, to].map(({ x, y }) => [x, y]), steps_per_segment: 5 });
    const released = expect.arrayContaining([["mouseup", 0, 350, 400, expect.anything(), ""]]);
    const dragged = await hands.awaitNoted(["mousedown", "mousemove", "mouseup"], released);
    const held = dragged.slice(dragged.findIndex(([name]) => name === "mousedown"));
    expect(held[0]).toEqual(["mousedown", 0, 300, 300, 1, ""]);
    expect(held.slice(1, -1).every(([, , , pressed]) => pressed === 1)).toBe(true);
  });

  // HANDS-1
  test("the wheel scrolls by notches of the same length", async () => {
    await hands.done("scroll", { ...(await hands.onScreen(200, 300)), delta_y: 3 });
    const sum = async (): Promise<number> => Number(await hands.page.evaluate("window.scrollY"));
    await eventually("it has scrolled", async () => (await sum()) === 360);
    await hands.done("scroll", { ...(await hands.onScreen(200, 300)), delta_y: -1 });
    await eventually("it has scrolled back", async () => (await sum()) === 240);
  });

  // HANDS-2
  test("text of any script is typed as it is", async () => {
    await focus();
    await hands.done("type", { text: "Hello, Wörld! 😀 日本 €\nx" });
    await eventually("all is typed", async () => (await hands.field()) === "Hello, Wörld! 😀 日本 €\nx");
    expect((await hands.noted("keydown")).slice(0, 3)).toEqual([
      ["keydown", "Shift", "ShiftLeft", "shift"],
      ["keydown", "H", "KeyH", "shift"],
      ["keydown", "e", "KeyE", ""],
    ]);
  });

  // HANDS-2
  test("more characters than a keyboard has free keys for are typed", async () => {
    const text = String.fromCodePoint(...Array.from({ length: 300 }, (_, index) => 0x4e00 + index));
    await focus();
    await hands.done("type", { text });
    await eventually("all is typed", async () => (await hands.field()) === text);
  });

  // HANDS-2
  test("keys and their combinations are pressed, and dead keys wait for their letter", async () => {
    await focus();
    await hands.done("press_key", {
      keys: ["a", "b", "Ctrl+a", "BackSpace", "dead_acute", "e", "Return", "Shift+Home"],
    });
    await eventually("the keys are there", async () => (await hands.field()) === "é\n");
    expect((await hands.noted("keydown")).at(-1)).toEqual(["keydown", "Home", "Home", "shift"]);
    const { status, body } = await hands.call("press_key", { keys: ["a", "Ctrl+Nokey"] });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: "bad_request", message: 'keys[1]: there is no key "Nokey"' },
    });
  });

  // HANDS-3
  test("what is written to the clipboard is pasted, and what a page copies is read", async () => {
    await hands.done("clipboard/write", { text: "Grüße 😀" });
    expect(await clipboard()).toBe("Grüße 😀");
    await focus();
    await hands.done("press_key", { keys: ["Ctrl+v"] });
    await eventually("it is pasted", async () => (await hands.field()) === "Grüße 😀");
    await hands.done("press_key", { keys: ["x", "Ctrl+a", "Ctrl+c"] });
    await eventually("it is copied", async () => (await clipboard()) === "Grüße 😀x");
    const most = "€".repeat(65_536);
    await hands.done("clipboard/write", { text: most });
    expect((await clipboard()) === most).toBe(true);
    expect((await hands.call("clipboard/write", { text: `${most}x` })).status).toBe(400);
    await hands.done("clipboard/write", { text: "" });
    expect(await clipboard()).toBe("");
  });

  // HANDS-4
  test("a picture is of the screen or a region of it, with the pointer where it is", async () => {
    const at = await hands.onScreen(20, 100);
    const region = { ...at, width: 100, height: 100 };
    const take = async (): Promise<{ width: number; height: number; colours: string[] }> => {
      const { rgba, ...size } = await decodePng((await hands.done("screenshot", { region })) as Buffer);
      const colours = Array.from({ length: rgba.length / 4 }, (_, index) => rgba.subarray(index * 4, index * 4 + 3));
      return { ...size, colours: colours.map((colour) => colour.join()) };
    };
    const red = "200,30,40";
    await hands.done("move_mouse", { x: 0, y: 0 });
    await eventually("the picture is of the box alone", async () =>
      (await take()).colours.every((colour) => colour === red),
    );
    await hands.done("move_mouse", { x: at.x + 50, y: at.y + 50 });
    const withPointer = await take();
    expect([withPointer.width, withPointer.height]).toEqual([100, 100]);
    const others = withPointer.colours.filter((colour) => colour !== red).length;
    expect(others).toBeGreaterThan(30);
    expect(others).toBeLessThan(1500);
    expect(await hands.done("cursor", { hidden: true })).toEqual({ ok: true });
    expect((await take()).colours.every((colour) => colour === red)).toBe(true);
    await hands.done("cursor", { hidden: false });
    const whole = await decodePng((await hands.done("screenshot", {})) as Buffer);
    if (headless) expect(whole).toMatchObject(viewport);
    else expect([whole.width, whole.height].every((side) => side >= 390)).toBe(true);
    const outside = { ...region, x: whole.width - 50 };
    expect(await hands.call("screenshot", { region: outside })).toMatchObject({
      status: 400,
      body: { message: `region: leads out of the screen, which is ${whole.width}x${whole.height}` },
    });
  });

  // HANDS-5
  test("a batch is carried out in its order, up to the first action that fails", async () => {
    const place = await hands.onScreen(50, 50);
    await hands.done("batch", {
      actions: [
        { type: "click_mouse", click_mouse: place },
        { type: "sleep", sleep: { duration_ms: 300 } },
        { type: "type_text", type_text: { text: "one" } },
        { type: "press_key", press_key: { keys: ["Return"] } },
        { type: "type_text", type_text: { text: "two" } },
      ],
    });
    await eventually("all was done", async () => (await hands.field()) === "one\ntwo");
    const failing = await hands.call("batch", {
      actions: [
        { type: "type_text", type_text: { text: "!" } },
        { type: "move_mouse", move_mouse: { x: 16_000, y: 1 } },
        { type: "type_text", type_text: { text: "never" } },
      ],
    });
    expect(failing).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^actions\[1\]\.move_mouse: 16000,1 is not on the screen, which is /) },
    });
    await eventually("the first was done", async () => (await hands.field()) === "one\ntwo!");
  });

  // HANDS-6
  test("a second window takes mouse and keys, and the first one again when it is closed", async () => {
    const opened = new Promise<Page>((resolve) => {
      hands.page.once("popup", (page) => page && resolve(page));
    });
    await hands.page.evaluate("void open('about:blank', '', 'popup,left=0,top=0,width=380,height=400')");
    const popup = await opened;
    await showNoting(popup);
    await sleep(300);
    await click(50, 50, {}, popup);
    await eventually("the popup's field has the focus", () =>
      popup.evaluate("document.hasFocus() && document.activeElement.id === 'field'"),
    );
    await hands.done("type", { text: "in the popup" });
    await eventually("it is there", async () => (await hands.field(popup)) === "in the popup");
    expect(await hands.field()).toBe("");
    await popup.close();
    await focus();
    await hands.done("type", { text: "in the first" });
    await eventually("it is in the first", async () => (await hands.field()) === "in the first");
  });

  // HANDS-6
  test("a dialog holds up no call", async () => {
    await hands.page.evaluate("document.querySelector('#box').onclick = () => { window.said = confirm('Sure?') }");
    const shown = new Promise<Dialog>((resolve) => hands.page.once("dialog", resolve));
    await click(60, 140);
    if (headless) await (await shown).accept();
    else {
      await shown;
      await sleep(500);
      await hands.done("press_key", { keys: ["Return"] });
    }
    await eventually("it is answered", () => hands.page.evaluate("window.said === true"));
    await hands.page.evaluate("document.querySelector('#box').onclick = null");
  });
});
