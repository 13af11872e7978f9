/** Chromium with a window: a tab in the background has no focus. Without a window every tab has it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FillParts, startFillParts } from "../../../support/fill-parts.ts";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts({ headless: false });
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const told = (id: string): string[] => [
  `focus ${id}`,
  `keydown ${id} by script`,
  `beforeinput ${id} by script`,
  `input ${id}`,
  `change ${id}`,
  `blur ${id}`,
];

test("a tab in the background gets the same events as one in front, and stays in the background", async () => {
  const page = await parts.open("frames");
  const front = await parts.open("plain");
  await front.bringToFront();
  expect(await page.evaluate("document.hasFocus()")).toBe(false);
  const result = await parts.fill(page, { "#in-same": "a", "#in-cross": "b" });
  expect(result.status).toBe("completed");
  expect(await parts.eventsIn(page, "frame-same")).toEqual(told("in-same"));
  expect(await parts.eventsIn(page, "frame-cross")).toEqual(told("in-cross"));
  expect(await front.evaluate("[document.hasFocus(), events]")).toEqual([true, []]);
  expect(await page.evaluate("document.hasFocus()")).toBe(false);
});
