/** Pages whose fields are filled: what the fields show then, and what the page notices. */
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FillParts, type PageState, startFillParts, type Values } from "../../../support/fill-parts.ts";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts();
});
afterEach(() => parts.clear());
afterAll(() => parts?.[Symbol.asyncDispose]());

/** What a page of test/features/vaults/fill/pages keeps in a global, as JSON, because frameworks keep proxies. */
const stateOf = async <Name extends keyof PageState>(page: Page, name: Name): Promise<PageState[Name]> =>
  JSON.parse((await page.evaluate(`JSON.stringify(window.${name})`)) as string);

type Case = { page: string; values: Values; shows?: Values };

const cases: Record<string, Case> = {
  "a plain login form": { page: "plain", values: { "#user": "ada", "#password": `p"'<\\ä😀` } },
  "one field of it alone": {
    page: "plain",
    values: { "#password": "a" },
    shows: { "#password": "a", "#user": "someone else" },
  },
  "a page without scripts by its own policy": { page: "csp", values: { "#user": "ada" } },
  "one in 5,000 inputs": { page: "huge", values: { "#field17": "a", "[name=n4999]": "b" } },
  "a field in an open shadow root": {
    page: "shadow",
    values: { "open-login > #user, #user": "a" },
    shows: { "#user": "a" },
  },
  "a field in a nested shadow root": { page: "shadow", values: { ".deep": "a" } },
  "the one open field when a closed tree has another": {
    page: "shadow",
    values: { ".shadow": "a" },
    shows: { "#user": "a" },
  },
  "the field inside of a component": {
    page: "shadow",
    values: { "#nested": "a", "#slotted": "b" },
    shows: { "#inner": "a", "#light": "b" },
  },
  "a frame of the same origin": { page: "frames", values: { "#in-same": "a" } },
  "a frame of another site": { page: "frames", values: { "#in-cross": "a" } },
  "a frame in a frame of another site": { page: "frames", values: { "#in-inner": "a", "#in-innermost": "b" } },
  "a frame without an address": { page: "frames", values: { "#srcdoc": "a" } },
  "a sandboxed frame, which runs no scripts": { page: "frames", values: { "#in-sandbox": "a" } },
  "frames in any order": {
    page: "frames",
    values: { "#in-innermost": "a", "#top": "b", "#in-cross": "c", "#in-same": "d" },
  },
  "the visible field when a hidden frame has its twin": {
    page: "frames",
    values: { ".twice": "a" },
    shows: { "#in-same + .twice": "a" },
  },
  "inputs of all types that take text": {
    page: "kinds",
    values: {
      "#text": " a b ",
      "#search": "b",
      "#url": "https://x.test/",
      "#tel": "+49 1",
      "#email": "A@b.c",
      "#password": "x y",
      "#odd": "o",
    },
  },
  "numbers and dates": {
    page: "kinds",
    values: {
      "#number": "-12.50",
      "#date": "2026-01-31",
      "#month": "2026-01",
      "#week": "2026-W02",
      "#time": "10:11",
      "#datetime": "2026-01-31T10:11",
    },
  },
  "a textarea with lines": { page: "kinds", values: { "#textarea": "one\ntwo\n\nfour" } },
  "a select, by its option's value": { page: "kinds", values: { "#select": "fr" } },
  "a multiple select, which loses its former choice": {
    page: "kinds",
    values: { "#many": "c" },
    shows: { "#many option:checked": "c" },
  },
  "an empty value": { page: "plain", values: { "#user": "" } },
  "the visible one of two twins": { page: "twins", values: { ".hidden-twin": "a" }, shows: { "#visible": "a" } },
  "the only field inside of what matches": { page: "twins", values: { "#wrapper": "a" }, shows: { "#wrapped": "a" } },
  "a field that matches by several elements around it": {
    page: "twins",
    values: { ".nested": "a" },
    shows: { "#nested": "a" },
  },
  "a field that matches by a label around it": {
    page: "plain",
    values: { "label:has(#user)": "ada" },
    shows: { "#user": "ada" },
  },
  "a transparent field and one hidden from screen readers alone": {
    page: "twins",
    values: { "#transparent": "a", "#labelled": "b" },
  },
  "the field in a dialog when it makes the rest inert": {
    page: "dialog",
    values: { ".both": "a" },
    shows: { "#inside": "a", "#outside": "" },
  },
  "masks that format": {
    page: "masks",
    values: { "#card": "4111111111111111", "#phone": "555 123 4567", "#code": "abc" },
    shows: { "#card": "4111 1111 1111 1111", "#phone": "(555) 123-4567", "#code": "ABC" },
  },
  "a field that passes the focus on": { page: "moves", values: { "#jump": "123456" } },
  "a code that is spread over six fields": {
    page: "split-code",
    values: { "#box0": "123456" },
    shows: { "#box0": "1", "#box5": "6" },
  },
  "a field that is emptied as soon as its code is complete": {
    page: "otp",
    values: { "#clear": "123456" },
    shows: { "#clear": "" },
  },
  "a field after one whose form the page reads and doesn't submit": {
    page: "otp",
    values: { "#draft": "123456", "#after": "x" },
  },
  "a field after one whose form a router submits": { page: "route", values: { "#code": "1", "#password": "s3cret" } },
  "a form in a page with a router": { page: "route", values: { "#user": "ada", "#password": "s3cret" } },
};

// FILL-14, FILL-15, FILL-20, FILL-27, FILL-28
test.each(Object.entries(cases))("%s", async (_name, { page: name, values, shows = values }) => {
  const page = await parts.open(name);
  const result = await parts.fill(page, values);
  expect(result).toEqual({
    status: "completed",
    fields: Object.keys(values).map((_, index) => ({ index, status: "filled" })),
    origin: parts.site.origin,
  });
  for (const [selector, value] of Object.entries(shows))
    expect(await parts.shown(page, selector), selector).toBe(value);
});

test("frames of another site run in other processes", async () => {
  await parts.open("frames");
  const session = await parts.browser.target().createCDPSession();
  const { targetInfos } = await session.send("Target.getTargets");
  const frames = targetInfos.filter(({ type }) => type === "iframe").map(({ url }) => new URL(url).pathname);
  expect(frames).toEqual(expect.arrayContaining(["/frame-cross.html", "/frame-innermost.html"]));
});

describe("the page's events", () => {
  const told = (id: string, value: string): string[] => [
    `focus ${id}`,
    ...[...value].flatMap(() => [`keydown ${id} by script`, `beforeinput ${id} by script`, `input ${id}`]),
    `change ${id}`,
    `blur ${id}`,
  ];
  const toldAll = [...told("user", "ada"), ...told("password", "s3cret")];
  const values = { "#user": "ada", "#password": "s3cret" };

  // FILL-21, FILL-23
  test("are those of typing, field by field, without a submit", async () => {
    const page = await parts.open("plain");
    await parts.fill(page, values);
    expect(await stateOf(page, "events")).toEqual(toldAll);
  });

  test("are the same in a frame of another process", async () => {
    const page = await parts.open("frames");
    await parts.fill(page, { "#in-cross": "a" });
    expect(await parts.eventsIn(page, "frame-cross")).toEqual(told("in-cross", "a"));
  });

  test("reach the state of React", async () => {
    const page = await parts.open("react");
    const result = await parts.fill(page, { "#user": "ada", "#password": "s3cret", "#country": "fr" });
    expect(result.status).toBe("completed");
    expect(await stateOf(page, "state")).toEqual({ user: "ada", password: "s3cret", country: "fr" });
  });

  test("reach the state of Vue, also lazy models", async () => {
    const page = await parts.open("vue");
    const result = await parts.fill(page, { "#user": "ada", "#lazy": "late", "#note": "a\nb", "#country": "fr" });
    expect(result.status).toBe("completed");
    expect(await stateOf(page, "state")).toEqual({ user: "ada", lazy: "late", note: "a\nb", country: "fr" });
  });
});

test("a page that has overridden every global gets the values into its fields and sees nothing of the engine", async () => {
  const page = await parts.open("hostile");
  const result = await parts.fill(page, { "#form": "ada", "#password": "s3cret" });
  expect(result.status).toBe("completed");
  const seen = await page.evaluate(`({
    user: realValue(document.getElementById("user")),
    password: realValue(document.getElementById("password")),
    stolen: window.stolen,
  })`);
  expect(seen).toEqual({ user: "ada", password: "s3cret", stolen: [] });
});

test("a blank page can be the page of a fill", async () => {
  await parts.clear();
  const [page] = await parts.browser.pages();
  if (!page) throw new Error("there is no page");
  await page.evaluate(`document.body.innerHTML = "<input id=user>"`);
  expect(await parts.fill(page, { "#user": "ada" })).toMatchObject({ status: "completed", origin: "null" });
  expect(await parts.fill(page, { "#user": "eve" }, { pageUrl: undefined })).toMatchObject({ status: "completed" });
  expect(await parts.shown(page, "#user")).toBe("eve");
});
