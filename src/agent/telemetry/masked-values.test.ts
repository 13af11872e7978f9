import { expect, test } from "vitest";
import { createMaskedValues } from "./masked-values.ts";
import { createRecorder } from "./recorder.ts";

test("a value is masked in every text, also percent-encoded or escaped", () => {
  const masked = createMaskedValues();
  const data = {
    text: 'said p&ss "word+ö',
    list: ["a", { url: "https://a.example/?p=p%26ss%20%22word%2B%C3%B6&x=1" }],
    n: 3,
  };
  expect(masked.mask(data)).toBe(data);
  masked.add(['p&ss "word+ö', "", "123"]);
  expect(masked.mask(data)).toEqual({
    text: "said [filled]",
    list: ["a", { url: "https://a.example/?p=[filled]&x=1" }],
    n: 3,
  });
  expect(masked.mask("?p=p%26ss+%22word%2B%C3%B6")).toBe("?p=[filled]");
  expect(masked.mask({ 'p&ss "word+ö': 1 })).toEqual({ "[filled]": 1 });
  expect([masked.mask("123"), masked.mask("at 12345")]).toEqual(["[filled]", "at 12345"]);
});

test("a value is masked as a browser writes it into each part of an address", () => {
  const value = "p@ss w0rd/é?=1&\"'<>";
  const masked = createMaskedValues();
  masked.add([value, "abc/../d"]);
  for (const before of ["https://a.example/", "https://a.example/?q=", "https://a.example/#", "https://a.example/a;"])
    expect(masked.mask(new URL(before + value).href)).toBe(`${before}[filled]`);
  // Of the second one an address leaves a letter.
  expect(masked.mask("https://a.example/d")).toBe("https://a.example/d");
});

test("the longer of two values goes first, and a lease has a thousand of them", () => {
  const masked = createMaskedValues();
  masked.add(["abcd", "abcdefgh"]);
  expect(masked.mask("abcdefgh abcd")).toBe("[filled] [filled]");
  const many = Array.from({ length: 998 }, (_, index) => `value-${index}`);
  expect([masked.add(many), masked.add(["value-5"]), masked.add(["one more"])]).toEqual([true, true, false]);
});

test("a value is masked before a text is cut", () => {
  const masked = createMaskedValues();
  masked.add(["s3cret-value"]);
  const recorder = createRecorder(masked);
  recorder.emit("console_log", { text: `${"x".repeat(2042)}s3cret-value` });
  const [record] = recorder.after(0);
  expect(record?.event).toMatchObject({ data: { text: `${"x".repeat(2042)}[fille` }, truncated: true });
});
