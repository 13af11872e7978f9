/** What is refused before the first write: every error code, and that the page is unchanged. */
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FillRequest } from "../../../../src/features/vaults/fill/fill-page.ts";
import type { FillRefusal } from "../../../../src/features/vaults/fill/fill-result.ts";
import { FillRefused } from "../../../../src/features/vaults/fill/fill-result.ts";
import { startCdpRelay } from "../../../support/cdp-relay.ts";
import { type FillParts, startFillParts, type Values } from "../../../support/fill-parts.ts";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts();
});
afterEach(() => parts.clear());
afterAll(() => parts?.[Symbol.asyncDispose]());

const refusalOf = async (page: Page, values: Values, more?: Partial<FillRequest>): Promise<unknown> => {
  try {
    return await parts.fill(page, values, more);
  } catch (error) {
    return error instanceof FillRefused ? { code: error.code, index: error.index } : error;
  }
};

const notEditable = [
  ...["disabled", "readonly", "readonly-area", "disabled-select", "in-fieldset"],
  ...["submit", "input-button", "reset", "checkbox", "radio", "file", "image", "hidden", "color", "range", "button"],
  ...["contenteditable", "paragraph", "label-for", "datalist"],
  ...["none", "in-none", "invisible", "flat", "skipped", "inert"],
];

type Case = [page: string, selector: string, code: FillRefusal];

// FILL-11, FILL-15, FILL-16
test.each<Case>([
  ...notEditable.map((id): Case => ["not-editable", `#${id}`, "element_not_editable"]),
  ["dialog", "#outside", "element_not_editable"],
  ["frames", "#in-hidden", "element_not_editable"],
  ["frames", "#in-flat", "element_not_editable"],
  ["plain", "#nobody", "element_not_found"],
  ["shadow", "#closed", "element_not_found"],
  ["shadow", "open-login #user", "element_not_found"],
  ["twins", ".duplicate", "ambiguous_selector"],
  ["twins", "#two", "ambiguous_selector"],
  ["huge", "input", "ambiguous_selector"],
  ["frames", ".everywhere", "ambiguous_selector"],
  ["plain", "#user[", "invalid_selector"],
  ["plain", "", "invalid_selector"],
  ["plain", "#user >>> #password", "invalid_selector"],
])("in %s, %s is refused with %s", async (name, selector, code) => {
  const page = await parts.open(name);
  expect(await refusalOf(page, { [selector]: "never" })).toEqual({ code, index: 0 });
});

// FILL-18
test("one wrong binding prevents all writes", async () => {
  const page = await parts.open("plain");
  expect(await refusalOf(page, { "#user": "never", "#password": "never", "#nobody": "never" })).toEqual({
    code: "element_not_found",
    index: 2,
  });
  expect([await parts.shown(page, "#user"), await parts.shown(page, "#password")]).toEqual(["someone else", ""]);
  expect(await page.evaluate("events")).toEqual([]);
});

// FILL-17
test("two bindings may not name one field, by whatever selectors", async () => {
  const page = await parts.open("plain");
  expect(await refusalOf(page, { "#user": "never", "label:first-of-type": "never" })).toEqual({
    code: "duplicate_target",
    index: 1,
  });
  expect(await parts.shown(page, "#user")).toBe("someone else");
});

// FILL-12, FILL-13
describe("the page", () => {
  const refused = async (pageUrl: string | undefined): Promise<unknown> => {
    const [page] = await parts.browser.pages();
    return page && refusalOf(page, { "#user": "a" }, { pageUrl });
  };

  test("must be open", async () => {
    await parts.open("plain");
    expect(await refused(`${parts.site.url("plain")}?other`)).toEqual({ code: "page_not_found" });
  });

  test("must have the given fragment, and none when none is given", async () => {
    const page = await parts.open("plain", "#one");
    expect(await refused(parts.site.url("plain"))).toEqual({ code: "page_not_found" });
    expect(await refused(`${parts.site.url("plain")}#two`)).toEqual({ code: "page_not_found" });
    await parts.open("plain", "#two");
    await parts.fill(page, { "#user": "ada" });
    expect(await parts.shown(page, "#user")).toBe("ada");
  });

  test("must be the only one with its URL", async () => {
    await parts.open("plain");
    await parts.open("plain");
    expect(await refused(parts.site.url("plain"))).toEqual({ code: "page_ambiguous" });
  });

  test("must be the only one when the request does not name it", async () => {
    await parts.open("plain");
    expect(await refused(undefined)).toEqual({ code: "page_ambiguous" });
  });

  test("must still have its URL when the fill inspects it", async () => {
    const page = await parts.open("plain");
    await using relay = await startCdpRelay(parts.connect, {
      before: ({ method }) => (method === "Target.attachToTarget" ? page.evaluate("location.hash = 'two'") : undefined),
    });
    expect(await refusalOf(page, { "#user": "never" }, { connect: relay.connect })).toEqual({ code: "page_not_found" });
  });
});

// FILL-19
describe("allowed origins", () => {
  const inner = { "#in-innermost": "a" };

  test("cover the field's frame and all frames around it", async () => {
    const page = await parts.open("frames");
    const { origin, otherOrigin } = parts.site;
    expect(await refusalOf(page, inner, { allowedOrigins: [origin] })).toEqual({
      code: "origin_not_allowed",
      index: 0,
    });
    expect(await refusalOf(page, inner, { allowedOrigins: [otherOrigin] })).toMatchObject({
      code: "origin_not_allowed",
    });
    expect(await refusalOf(page, inner, { allowedOrigins: [origin, otherOrigin] })).toMatchObject({
      status: "completed",
    });
  });

  test("keep a frame from noticing that a read-only field of it was looked for", async () => {
    const page = await parts.open("frames");
    const { origin, otherOrigin } = parts.site;
    const frame = page.frames().find((each) => each.url().endsWith("/frame-cross.html"));
    await frame?.evaluate(`
      document.body.innerHTML = "<input id=locked readonly>";
      for (const type of ["focus", "blur"])
        document.querySelector("#locked").addEventListener(type, () => document.body.classList.add(type));
    `);
    const noticed = () => frame?.evaluate("document.body.className");
    const locked = { "#locked": "a" };
    expect(await refusalOf(page, locked, { allowedOrigins: [origin] })).toMatchObject({ code: "origin_not_allowed" });
    expect(await noticed()).toBe("");
    expect(await refusalOf(page, locked, { allowedOrigins: [origin, otherOrigin] })).toMatchObject({
      code: "element_not_editable",
    });
    expect(await noticed()).toBe("focus blur");
  });

  test("do not apply to frames without a bound field", async () => {
    const page = await parts.open("frames");
    expect(
      await refusalOf(page, { "#top": "a", "#in-same": "b", "#srcdoc": "c" }, { allowedOrigins: [parts.site.origin] }),
    ).toMatchObject({ status: "completed" });
  });

  test("never cover a sandboxed frame, which has no origin", async () => {
    const page = await parts.open("frames");
    expect(await refusalOf(page, { "#in-sandbox": "a" }, { allowedOrigins: [parts.site.origin] })).toMatchObject({
      code: "origin_not_allowed",
    });
  });
});
