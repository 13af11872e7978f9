import { expect, test } from "vitest";
import { createMaskedValues } from "./masked-values.ts";
import { createRecorder } from "./recorder.ts";

// TELEMETRY-17
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

const secret = "Tr0ub4dör & <3>\"+'x'";
const bytes = Buffer.from(secret);
const entities = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
const units = (text: string, of: (unit: string) => string): string =>
  text
    .split("")
    .map((unit) => of(unit.charCodeAt(0).toString(16)))
    .join("");
const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
const twice = encodeURIComponent(encodeURIComponent(secret));

// TELEMETRY-17
test.each<[string, string]>([
  ["in another case", secret.toUpperCase()],
  ["HTML-escaped", entities(secret)],
  ["HTML-escaped twice", entities(entities(secret))],
  ["by HTML's numbers", [...secret].map((one) => `&#${one.codePointAt(0)};`).join("")],
  ["by HTML's hexadecimal numbers", units(secret, (digits) => `&#x${digits};`)],
  ["percent-encoded twice", twice],
  ["percent-encoded three times", encodeURIComponent(twice)],
  ["percent-encoded, each byte of it", hex.map((byte) => `%${byte}`).join("")],
  ["percent-encoded and HTML-escaped", entities(`&${encodeURIComponent(secret)}&`).slice(5, -5)],
  ["by escape()", units(secret, (digits) => `%u${digits.padStart(4, "0")}`)],
  ["by \\u escapes", units(secret, (digits) => `\\u${digits.padStart(4, "0")}`)],
  ["by \\u escapes in JSON", JSON.stringify(units(secret, (digits) => `\\u${digits.padStart(4, "0")}`)).slice(1, -1)],
  ["by \\u{} escapes", units(secret, (digits) => `\\u{${digits}}`)],
  ["by \\x escapes", units(secret, (digits) => `\\x${digits.padStart(2, "0")}`)],
  ["as JSON in JSON", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
  ["as a form writes it", new URLSearchParams({ v: secret }).toString().slice(2)],
  ["in hexadecimal digits", hex.join("")],
  ["in capital hexadecimal digits", hex.join("").toUpperCase()],
  ["byte by byte in hexadecimal digits", hex.join(" ")],
  ["byte by byte as a program writes them", hex.map((byte) => `0x${byte}`).join(", ")],
  ["byte by byte", bytes.join(",")],
  ["byte by byte in a list", JSON.stringify([...bytes]).slice(1, -1)],
  ["byte by byte as JSON", JSON.stringify(new Uint8Array(bytes)).slice(1, -1)],
  ["character by character", [...secret].join(" ")],
  ["character by character in a list", [...secret].join('","')],
])("a value is masked %s", (_how, written) => {
  const masked = createMaskedValues();
  masked.add([secret]);
  expect(masked.mask(`a${written}z`)).toBe("a[filled]z");
  expect(masked.mask({ [written]: [written] })).toEqual({ "[filled]": ["[filled]"] });
});

// TELEMETRY-17
test.each(["", "1", "12", "user:", "user:1"])(
  "a value is masked in base64 after %j, and what is beside it stays",
  (before) => {
    const masked = createMaskedValues();
    masked.add([secret, "s3cret"]);
    for (const value of [secret, "s3cret"])
      for (const encoding of ["base64", "base64url"] as const) {
        const text = `https://a.example/?q=${Buffer.from(`${before}${value} and more`).toString(encoding)}`;
        const shown = String(masked.mask(text));
        expect(shown).toMatch(/^https:..a.example.\?q=.*\[filled\]/);
        const rest = shown.slice("https://a.example/?q=".length).split("[filled]");
        for (const part of rest) expect(Buffer.from(part, encoding).toString("latin1")).not.toMatch(/s3|Tr|"\+|et$/);
        expect(masked.mask(encodeURIComponent(text))).toContain("[filled]");
      }
  },
);

test("values that overlap are replaced together, and values side by side one by one", () => {
  const masked = createMaskedValues();
  masked.add(["abcdef", "defghi", "hijk", "wxyz"]);
  expect(masked.mask("1abcdefghijk2 abcdefwxyz 3defghi%6a%6B")).toBe("1[filled]2 [filled][filled] 3[filled]");
  expect(masked.mask("aaabcdefff")).toBe("aa[filled]ff");
});

test("what is not encoded is left as it is, whatever it looks like", () => {
  const masked = createMaskedValues();
  masked.add(["1234", "test-value", "%41%42%43&amp;"]);
  const texts = [
    "12345".slice(1),
    "100% of it & 50%",
    "\\u12 \\",
    "%zz%4",
    "&bogus;&#x;",
    "a+b c",
    "\ud800%ff%c3%28",
    "1,2,3,4",
    "12 34",
  ];
  for (const text of texts) expect(masked.mask(text)).toBe(text);
  expect(masked.mask("?q=%2541%2542%2543%26amp%3B.")).toBe("?q=[filled].");
  expect(masked.mask("İstanbul 100% TEST-VALUE")).toBe("İstanbul 100% [filled]");
});

test("a short value is replaced where it is the whole text, however it is written", () => {
  const masked = createMaskedValues();
  masked.add(["a&1"]);
  for (const text of ["a&1", "A&1", "a&amp;1", "a%261", "%61%2526%31"]) expect(masked.mask(text)).toBe("[filled]");
  expect(masked.mask("was a&1")).toBe("was a&1");
});

test("a text that is too long is searched to a bound, and nothing is left of a value at its end", () => {
  const masked = createMaskedValues();
  masked.add(["s3cret-value"]);
  const bound = 16 * 1024;
  for (const written of ["s3cret-value", "%2573%2533cret-value", Buffer.from("s3cret-value").toString("base64")])
    for (let shown = 1; shown <= written.length; shown += 1) {
      const text =
        `${"s3cret-value".repeat(100)}${"x".repeat(bound)}`.slice(0, bound - shown) + written + "y".repeat(bound);
      expect(masked.mask(text)).toMatch(/^(\[filled\]){100}x*$/);
    }
  expect(masked.mask(`${"y".repeat(40_000)}s3cret-value`, 50_000)).toBe(`${"y".repeat(40_000)}[filled]`);
});

test("the values of a lease have a bound together, which one fill never reaches", () => {
  const masked = createMaskedValues();
  const values = (from: string): string[] =>
    Array.from({ length: 50 }, (_, index) => `${from}${index}`.padEnd(4096, "x"));
  expect(masked.add(values("a"))).toBe(true);
  expect(masked.add(values("a"))).toBe(true);
  expect(masked.add(values("b"))).toBe(false);
});

test("a value is masked before a text is cut", () => {
  const masked = createMaskedValues();
  masked.add(["s3cret-value"]);
  const recorder = createRecorder(masked);
  recorder.emit("console_log", { text: `${"x".repeat(2042)}s3cret-value` });
  const [record] = recorder.after(0);
  expect(record?.event).toMatchObject({ data: { text: `${"x".repeat(2042)}[fille` }, truncated: true });
});
