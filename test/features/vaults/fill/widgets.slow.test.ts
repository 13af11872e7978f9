/** Fields of all kinds, each tried in a real Chromium; docs/fillable-fields.md is the table of them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FillRefused } from "../../../../src/features/vaults/fill/fill-result.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FillParts, startFillParts } from "../../../support/fill-parts.ts";
import { fieldTable } from "./widgets/field-table.ts";
import { type Widget, widgets } from "./widgets/widgets.ts";

let parts: FillParts;
let page: Page;
beforeAll(async () => {
  parts = await startFillParts();
  page = await parts.open("blank");
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const outcome = async ({ values }: Widget): Promise<Widget["says"]> => {
  try {
    const { status, fields } = await parts.fill(page, values);
    const failed = fields.find(({ error_code }) => error_code !== undefined)?.error_code;
    return status === "completed" ? "completed" : { failed: failed ?? status };
  } catch (error) {
    if (error instanceof FillRefused) return { refused: error.code };
    throw error;
  }
};

// FILL-15, FILL-16, FILL-28, FILL-37, FILL-46, FILL-47, FILL-48
describe.each(Object.entries(widgets))("%s", (_group, rows) => {
  test.each(rows.map((widget): [string, Widget] => [widget.name, widget]))("%s", async (_name, widget) => {
    await page.goto(parts.site.url("blank"), { waitUntil: [] });
    await eventually("the blank page", async () => (await page.evaluate("document.readyState")) === "complete");
    await page.setContent(widget.html.replaceAll("{{other}}", parts.site.otherOrigin), { waitUntil: [] });
    await eventually("the page", async () => (await page.evaluate("document.readyState")) === "complete");
    // A frame of another site comes in a process of its own, perhaps after its page is complete.
    if (widget.html.includes("{{other}}"))
      for (const selector of Object.keys(widget.values)) await parts.shown(page, selector);
    expect(await outcome(widget)).toEqual(widget.says);
    if (widget.proof) expect(await page.evaluate(`Boolean(${widget.proof})`), widget.proof).toBe(true);
  });
});

test("docs/fillable-fields.md has the table of these fields", async () => {
  const path = join(import.meta.dirname, "../../../../docs/fillable-fields.md");
  const text = await readFile(path, "utf8");
  const wanted = `${text.slice(0, text.indexOf("<!-- fields -->"))}${fieldTable(widgets)}`;
  if (process.env.UPDATE) await writeFile(path, wanted);
  else expect(text).toBe(wanted);
});
