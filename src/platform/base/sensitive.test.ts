import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { format, inspect } from "node:util";
import { serialize } from "node:v8";
import { describe, expect, test } from "vitest";
import { Sensitive } from "./sensitive.ts";

const secret = "hunter2-correct-horse";
const holders: [string, Sensitive<string | Uint8Array>][] = [
  ["a string", new Sensitive(secret)],
  ["bytes", new Sensitive(new TextEncoder().encode(secret))],
];

const printed = (print: (console: Console) => void): string => {
  const stream = new PassThrough();
  print(new Console(stream));
  return String(stream.read());
};

const bytesAsText = [...new TextEncoder().encode(secret)].slice(0, 4).join(",");

describe.each(holders)("%s that is sensitive", (_kind, value) => {
  test.each<[string, () => string]>([
    ["JSON", () => JSON.stringify({ value })],
    ["a template string", () => `${value}`],
    ["String", () => String(value)],
    ["concatenation", () => `a ${String(value)}`],
    ["inspect", () => inspect({ deep: [value] }, { depth: null, showHidden: true })],
    ["format", () => format("%s %o %j", value, value, value)],
    ["console", () => printed((console) => console.log(value, { value }))],
    ["an error's message", () => new Error(`failed with ${value}`).stack ?? ""],
  ])("is redacted in %s", (_way, print) => {
    const text = print().replaceAll(/\s/g, "");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(secret);
    expect(text).not.toContain(bytesAsText);
  });

  test("is empty to an inspection that goes round its own", () => {
    expect(inspect(value, { customInspect: false, showHidden: true })).toBe("Sensitive {}");
  });

  test("has nothing that a structured clone, a spread or an enumeration would carry", () => {
    expect(structuredClone(value)).toEqual({});
    expect({ ...value }).toEqual({});
    expect(Reflect.ownKeys(value)).toEqual([]);
    expect(serialize(value).includes(secret)).toBe(false);
  });

  test("comes out of reveal as it went in", () => {
    const revealed = value.reveal();
    expect(typeof revealed === "string" ? revealed : new TextDecoder().decode(revealed)).toBe(secret);
  });
});
