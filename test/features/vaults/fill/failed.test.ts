/** Fills that end after their first write: the status of each field, and that nothing else was written. */
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { FieldError, FieldResult } from "../../../../src/features/vaults/fill/fill-result.ts";
import type { Sensitive } from "../../../../src/platform/base/sensitive.ts";
import { type SentCommand, startCdpRelay } from "../../../support/cdp-relay.ts";
import { bindingsOf, type FillParts, startFillParts, type Values } from "../../../support/fill-parts.ts";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts();
});
afterEach(() => parts.clear());
afterAll(() => parts?.[Symbol.asyncDispose]());

/** Resolves when the frame has its new document. */
const reloadFrame = `new Promise((resolve) => {
  const frame = document.getElementById("same");
  frame.onload = resolve;
  frame.contentWindow.location.reload();
})`;

type Case = {
  page: string;
  /** The last field fails; the ones before it are filled. */
  values: Values;
  code: FieldError;
  shows?: Values;
};

const cases: Record<string, Case> = {
  "an option that does not exist": {
    page: "kinds",
    values: { "#select": "it" },
    code: "option_not_found",
    shows: { "#select": "de" },
  },
  "an option that can't be chosen": { page: "kinds", values: { "#select": "closed" }, code: "option_not_found" },
  "an option by its text": { page: "kinds", values: { "#select": "Germany" }, code: "option_not_found" },
  "a value longer than the field": {
    page: "kinds",
    values: { "#text": "a", "#short": "12345" },
    code: "execution_failed",
  },
  "a text in a field of numbers": { page: "kinds", values: { "#number": "abc" }, code: "execution_failed" },
  "a date in a wrong format": {
    page: "kinds",
    values: { "#date": "31.01.2026" },
    code: "execution_failed",
  },
  "a mask that drops letters": { page: "masks", values: { "#strict": "ABCdef" }, code: "execution_failed" },
  "a password of which the page drops a character": {
    page: "masks",
    values: { "#shown-password": "pass-word" },
    code: "execution_failed",
  },
  "a field that the page empties a moment later": {
    page: "masks",
    values: { "#late": "abc" },
    code: "execution_failed",
  },
  "a controlled field that stays as it is": {
    page: "react",
    values: { "#user": "ada", "#stubborn": "x" },
    code: "execution_failed",
    shows: { "#stubborn": "" },
  },
  "an element that is replaced when it gets the focus": {
    page: "changes",
    values: { "#replaced-on-focus": "x" },
    code: "target_changed",
    shows: { "#replaced-on-focus": "" },
  },
  "an element that an earlier field's input removes": {
    page: "changes",
    values: { "#removes-next": "a", "#next": "x" },
    code: "target_changed",
  },
  "an element that has become another field": {
    page: "changes",
    values: { "#renames": "a", ".renamed": "x" },
    code: "target_changed",
    shows: { "#renamed": "" },
  },
  "an element whose selector meanwhile matches a second one": {
    page: "changes",
    values: { "#doubles": "a", ".double": "x" },
    code: "ambiguous_selector",
    shows: { ".double": "" },
  },
  "an element that was disabled meanwhile": {
    page: "changes",
    values: { "#disables-other": "a", "#other": "x" },
    code: "element_not_editable",
    shows: { "#other": "" },
  },
  "an element that passes on the focus at once": {
    page: "changes",
    values: { "#refuses-focus": "x" },
    code: "element_not_editable",
    shows: { "#refuses-focus": "", "#user": "" },
  },
  "a page that has submitted itself": {
    page: "otp",
    values: { "#otp": "123456", "#after": "x" },
    code: "target_changed",
  },
  "a page that navigates to one that never loads": {
    page: "navigates",
    values: { "#user": "ada", "#password": "x" },
    code: "target_changed",
  },
  "a frame that is navigating to another document": {
    page: "leaving-frames",
    values: { "#leaves": "a", "#in-same": "x" },
    code: "target_changed",
    shows: { "#in-same": "" },
  },
  "a frame that is removed": {
    page: "leaving-frames",
    values: { "#removes": "a", "#in-same": "x" },
    code: "target_changed",
  },
};

// FILL-20, FILL-21, FILL-29, FILL-31, FILL-32, FILL-34, FILL-35, FILL-37
test.each(Object.entries(cases))("%s ends the fill", async (_name, { page: name, values, code, shows = {} }) => {
  const page = await parts.open(name);
  const last = Object.keys(values).length - 1;
  const fields: FieldResult[] = Object.keys(values).map((_, index) => ({ index, status: "filled" }));
  fields[last] = { index: last, status: "failed", error_code: code };
  expect(await parts.fill(page, values)).toEqual({ status: "failed", fields, origin: parts.site.origin });
  for (const [selector, value] of Object.entries(shows))
    expect(await parts.shown(page, selector), selector).toBe(value);
});

// A value that was sent to a leaving page has an unknown effect. A field whose value was not sent has failed.
test.each([
  ["by requestSubmit()", "#otp"],
  ["by submit()", "#pin"],
])("a page that has submitted itself %s is sent no other value", async (_how, selector) => {
  const page = await parts.open("otp");
  await using relay = await startCdpRelay(parts.connect);
  const result = await parts.fill(page, { [selector]: "123456", "#after": "never" }, { connect: relay.connect });
  expect(result).toMatchObject({
    status: "failed",
    fields: [
      { index: 0, status: "filled" },
      { index: 1, status: "failed", error_code: "target_changed" },
    ],
  });
  const values = relay.sent.flatMap((text) => (JSON.parse(text) as SentCommand).params?.arguments ?? []);
  expect(values.map(({ value }) => value)).not.toContain("never");
});

/** Does `work` in the page after all checks, just before the field `selector` is written. */
const meddle = (selector: string, work: () => Promise<unknown>) =>
  startCdpRelay(parts.connect, {
    before: ({ params }) => (params?.arguments?.[1]?.value === selector ? work() : undefined),
  });

// FILL-34
test.each<[string, string, string, (page: Page) => () => Promise<unknown>]>([
  ["the page has navigated to another one", "plain", "#user", (page) => () => page.goto(parts.site.url("next"))],
  ["the page was loaded again", "plain", "#user", (page) => () => page.reload()],
  ["its frame has another document", "frames", "#in-same", (page) => () => page.evaluate(reloadFrame)],
])("a field fails with target_changed and no other is written when %s", async (_why, name, selector, work) => {
  const page = await parts.open(name);
  await using relay = await meddle(selector, work(page));
  const { status, fields } = await parts.fill(page, { [selector]: "never" }, { connect: relay.connect });
  expect({ status, fields }).toEqual({
    status: "failed",
    fields: [{ index: 0, status: "failed", error_code: "target_changed" }],
  });
  expect(await parts.shown(page, selector)).not.toBe("never");
});

// FILL-30, FILL-31
test.each<[string, string, string, (page: Page) => () => Promise<unknown>]>([
  ["its tab", "plain", "#user", (page) => () => page.close()],
  [
    "its frame's process",
    "frames",
    "#in-cross",
    (page) => () => page.evaluate("document.getElementById('cross').remove()"),
  ],
])("a field whose write was sent when %s goes away is unknown", async (_why, name, selector, work) => {
  const page = await parts.open(name);
  await using relay = await meddle(selector, work(page));
  const { status, fields } = await parts.fill(page, { [selector]: "never" }, { connect: relay.connect });
  expect({ status, fields }).toEqual({
    status: "unknown",
    fields: [{ index: 0, status: "unknown", error_code: "target_changed" }],
  });
});

// FILL-21, FILL-22, FILL-27, FILL-31, FILL-40
test("after the first failure no field is attempted and no value is made, and what was written stays", async () => {
  const page = await parts.open("kinds");
  const asked: string[] = [];
  const bindings = bindingsOf({ "#text": "a", "#short": "12345", "#tel": "1", "#url": "x" }).map(
    ({ selector, value }) => ({
      selector,
      value: () => {
        asked.push(selector);
        return value();
      },
    }),
  );
  expect((await parts.fill(page, {}, { bindings })).fields).toEqual([
    { index: 0, status: "filled" },
    { index: 1, status: "failed", error_code: "execution_failed" },
    { index: 2, status: "not_attempted" },
    { index: 3, status: "not_attempted" },
  ]);
  expect([await parts.shown(page, "#text"), await parts.shown(page, "#tel")]).toEqual(["a", ""]);
  expect(asked).toEqual(["#text", "#short"]);
});

// FILL-33
test("a value that can't be made fails its field without naming the reason", async () => {
  const page = await parts.open("plain");
  const value = (): Sensitive => {
    throw new Error("seed JBSWY3DPEHPK3PXP is broken");
  };
  const result = await parts.fill(page, {}, { bindings: [{ selector: "#user", value }] });
  expect(result).toEqual({
    status: "failed",
    fields: [{ index: 0, status: "failed", error_code: "execution_failed" }],
    origin: parts.site.origin,
  });
  expect(await parts.shown(page, "#user")).toBe("someone else");
});
