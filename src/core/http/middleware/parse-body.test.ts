import { expect, test } from "vitest";
import { whyNotText } from "./parse-body.ts";

// HTTP-25
test.each([
  "",
  '"a"',
  "ü 😀",
  '"\\ud83d\\ude00\\uD83D\\uDE00"',
  '"\\u00e9\\ue000\\ud7ff"',
  '"\\\\ud800"',
  '"\\\\\\\\udc00"',
  "\\",
  "\\u",
  "\\ud8",
])("%s is text, or no JSON", (text) =>
  expect(whyNotText(Buffer.from(text)) ?? "text").toMatch(text === "\\ud8" ? /half/ : /^text$/),
);

// HTTP-25
test.each([
  '"\\ud800"',
  '"\\uDFFF"',
  '"\\ude00\\ud83d"',
  '"\\ud83d\\ud83d\\ude00"',
  '"\\\\\\ud800"',
  '{"\\ud83dx":1}',
  '"\\ud83d\\\\ude00"',
])("%s names half a pair", (text) => {
  expect(JSON.stringify(JSON.parse(text))).toMatch(/\\ud[89a-f]/);
  expect(whyNotText(Buffer.from(text))).toMatch(/half a surrogate pair/);
});

// HTTP-25
test.each([[Buffer.from('"é"', "latin1")], [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])], [Buffer.from([0xff, 0xfe])]])(
  "%o is not UTF-8",
  (bytes) => expect(whyNotText(bytes)).toBe("is not UTF-8"),
);
