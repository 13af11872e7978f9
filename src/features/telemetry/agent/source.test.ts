import { expect, test } from "vitest";
import { shownUrl } from "./source.ts";

test.each([
  ["https://ann:s3cret@shop.example/a?b=c#d", "https://shop.example/a?b=c#d"],
  ["https://t0ken@shop.example/", "https://shop.example/"],
  ["https://:s3cret@shop.example/", "https://shop.example/"],
  ["wss://t0ken@shop.example/socket", "wss://shop.example/socket"],
  ["https://shop.example/a@b", "https://shop.example/a@b"],
])("an event shows %s as %s: without a login", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test("what is no address of the network is cut, an address is not", () => {
  expect(shownUrl(`data:text/html,${"x".repeat(1000)}`)).toHaveLength(256);
  expect(shownUrl("x".repeat(1000))).toHaveLength(256);
  const long = `https://shop.example/${"x".repeat(1000)}`;
  expect(shownUrl(long)).toBe(long);
});
