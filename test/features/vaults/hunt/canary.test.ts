import { expect, test } from "vitest";
import { newCanary, newSeedCanary, tracesOf } from "./canary.ts";

const canary = newCanary("password");
const formsIn = (text: string | Buffer): string[] =>
  tracesOf(canary)
    .filter(({ bytes }) => Buffer.from(text as string).includes(bytes))
    .map(({ form }) => form);

test.each<[string, string | Buffer, string]>([
  ["a log line", `{"msg":${JSON.stringify(canary.text)}}`, "JSON"],
  ["a log line in a log line", JSON.stringify({ m: JSON.stringify({ v: canary.text }) }), "JSON in JSON"],
  ["the middle of base64", Buffer.from(`{"a":"${canary.text}"}`).toString("base64"), "base64"],
  ["another place of base64", Buffer.from(`{"ab":"${canary.text}"}`).toString("base64"), "base64"],
  ["a third place of base64", Buffer.from(`{"abc":"${canary.text}"}`).toString("base64"), "base64"],
  ["a query", `?v=${encodeURIComponent(canary.text)}`, "URL"],
  ["a form", `v=${new URLSearchParams({ v: canary.text })}`, "form"],
  ["the memory of a browser", Buffer.from(`x${canary.text}`, "utf16le").subarray(2), "UTF-16LE"],
  ["a hex dump", Buffer.from(canary.text).toString("hex"), "hex"],
])("%s is found", (_, text, form) => {
  expect(formsIn(text).some((found) => found.startsWith(form))).toBe(true);
});

test("other texts are not found", () => {
  expect(formsIn(JSON.stringify(newCanary("other")))).toEqual([]);
});

test("a seed is base32", () => {
  expect(newSeedCanary("seed").text).toMatch(/^[A-Z2-7]{32}$/);
});
