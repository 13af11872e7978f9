/** What of hands is left for others: nothing that was filled, held or written. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { purposeHeader } from "../../../../src/core/protocol/agent-api.ts";
import { createTestAgents, type TestAgents } from "../../../support/agent-process.ts";
import { devToolsOf, session } from "../../../support/visited-agent.ts";
import { type HeldHands, holdHands, showNoting } from "./hands.ts";

describe.each([{ headless: true }, { headless: false }])("headless: $headless", ({ headless }) => {
  let agents: TestAgents;
  let hands: HeldHands;
  beforeAll(async () => {
    agents = createTestAgents();
    hands = await holdHands(agents, { headless, viewport: { width: 800, height: 600 } });
  });
  afterAll(() => agents?.[Symbol.asyncDispose]());

  // HANDS-7
  test("no screenshot is taken while a page in sight may show what was filled", async () => {
    const { page } = hands;
    expect((await hands.call("screenshot", {})).status).toBe(200);
    const { url, headers } = devToolsOf(hands.agent);
    const fill = new WebSocket(url, { headers: { ...headers, [purposeHeader]: "fill" } });
    await new Promise((resolve, reject) => fill.once("open", resolve).once("error", reject));
    const refused = { status: 409, body: { code: "conflict", message: expect.stringMatching(/vault has filled/) } };
    expect(await hands.call("screenshot", {})).toMatchObject(refused);
    fill.close();
    await new Promise((resolve) => fill.once("close", resolve));
    expect(await hands.call("screenshot", {})).toMatchObject(refused);
    const batch = { actions: [{ type: "sleep", sleep: { duration_ms: 1 } }] };
    expect((await hands.call("batch", batch)).status).toBe(200);
    await page.goto("data:text/html,<title>after</title>");
    await expect.poll(async () => (await hands.call("screenshot", {})).status).toBe(200);
    // The page that was filled comes back in sight with its values.
    await page.goBack();
    expect(await hands.call("screenshot", {})).toMatchObject(refused);
    await page.goto("about:blank");
    await showNoting(page);
  });

  // HANDS-5
  test("calls are carried out one after the other, and one that would take too long is refused at once", async () => {
    await hands.done("click_mouse", await hands.onScreen(50, 50));
    const texts = ["first ", "second ", "third"];
    await Promise.all(texts.map((text) => hands.done("type", { text, delay: 5 })));
    const field = await hands.field();
    expect(texts.every((text) => field.includes(text))).toBe(true);
    expect(field).toHaveLength(texts.join("").length);
    const startMs = performance.now();
    const pause = { type: "sleep", sleep: { duration_ms: 40_000 } };
    expect(await hands.call("batch", { actions: [pause, pause] })).toMatchObject({
      status: 400,
      body: { message: "actions: wait 80000 ms, and 60000 are the most" },
    });
    expect(await hands.call("type", { text: "x".repeat(1000), delay: 100 })).toMatchObject({ status: 400 });
    expect(performance.now() - startMs).toBeLessThan(20_000);
  });

  // HANDS-8
  test("the end of a lease ends a call, releases the mouse and empties the clipboard of a kept browser", async () => {
    const { agent, page } = hands;
    await hands.done("clipboard/write", { text: "of the first holder" });
    await hands.done("click_mouse", { ...(await hands.onScreen(300, 300)), click_type: "down" });
    await hands.awaitNoted(["mousedown"], expect.arrayContaining([["mousedown", 0, 300, 300, 1, ""]]));
    const long = hands.call("batch", { actions: [{ type: "sleep", sleep: { duration_ms: 50_000 } }] });
    const cut = expect(long).rejects.toThrow();
    await page.browser().disconnect();
    await agent.release(session, 1);
    await cut;
    await expect.poll(async () => (await agent.bind(session, 2)).status, { timeout: 20_000 }).toBe(200);
    const browser = await agent.connect(session);
    const next = (await browser.pages()).at(-1);
    if (!next) throw new Error("no page");
    expect(await hands.done("clipboard/read")).toEqual({ text: "" });
    await hands.done("move_mouse", await hands.onScreen(310, 310, next));
    await expect
      .poll(() => next.evaluate("window.noted.filter(([name]) => name.startsWith('mouse')).slice(-2)"))
      .toEqual([
        ["mouseup", 0, expect.anything(), expect.anything(), expect.anything(), ""],
        ["mousemove", 310, 310, 0],
      ]);
  });
});
