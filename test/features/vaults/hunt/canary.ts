/** Secrets that resemble nothing else, and every form in which they could leak. */
import { randomBytes } from "node:crypto";

export type Canary = { name: string; text: string };

const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Characters that every escape changes, in the middle, so that no form contains another. */
export const newCanary = (name: string): Canary => ({
  name,
  text: `${randomBytes(6).toString("hex")}"<&>'%+/\\ ü✓${randomBytes(6).toString("hex")}`,
});

export const newSeedCanary = (name: string): Canary => ({
  name,
  text: Array.from(randomBytes(32), (byte) => base32[byte % 32]).join(""),
});

/** A form of a secret: the text to search for. */
export type Trace = { canary: string; form: string; bytes: Buffer };

const htmlEscaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

/** As Go's JSON encoder writes it, which also escapes for HTML. */
const goJson = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[<>&]/g, (sign) => `\\u00${sign.codePointAt(0)?.toString(16)}`);

const asciiJson = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Base64 depends on the bytes before the secret: this is the part that stays the same at each of the three offsets. */
const base64Forms = (bytes: Buffer): [string, string][] =>
  [0, 1, 2].flatMap((offset): [string, string][] => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const inner = shifted.toString("base64").slice(offset === 0 ? 0 : 4, -4);
    return [
      [`base64 at ${offset}`, inner],
      [`base64url at ${offset}`, inner.replaceAll("+", "-").replaceAll("/", "_")],
    ];
  });

/** All forms of a secret. */
export const tracesOf = ({ name, text }: Canary): Trace[] => {
  const raw = Buffer.from(text);
  const texts: [string, string][] = [
    ["raw", text],
    ["hex", raw.toString("hex")],
    ["HEX", raw.toString("hex").toUpperCase()],
    ["URL", encodeURIComponent(text)],
    ["form", new URLSearchParams({ v: text }).toString().slice(2)],
    ["JSON", JSON.stringify(text).slice(1, -1)],
    ["JSON in JSON", JSON.stringify(JSON.stringify(text)).slice(1, -1)],
    ["JSON of Go", goJson(text)],
    ["JSON in ASCII", asciiJson(text)],
    ["HTML", htmlEscaped(text)],
    ["HTML named", text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")],
    ["reversed", [...text].reverse().join("")],
    ...base64Forms(raw),
  ];
  const utf16 = Buffer.from(text, "utf16le");
  const traces: [string, Buffer][] = [
    ...texts.map(([form, value]): [string, Buffer] => [form, Buffer.from(value)]),
    ["UTF-16LE", utf16],
    ["UTF-16BE", Buffer.from(utf16).swap16()],
  ];
  return traces.map(([form, bytes]) => ({ canary: name, form, bytes }));
};
