import { expect, test } from "vitest";
import { byteRange } from "./byte-range.ts";

test("a range is read as RFC 9110 says, and one that can't be served is ignored", () => {
  const of = (header: string | undefined) => byteRange(header, 1000);
  expect(of("bytes=0-")).toEqual({ start: 0, end: 1000 });
  expect(of("bytes=10-19")).toEqual({ start: 10, end: 20 });
  expect(of("bytes=990-5000")).toEqual({ start: 990, end: 1000 });
  expect(of("bytes=-100")).toEqual({ start: 900, end: 1000 });
  expect(of("bytes=-5000")).toEqual({ start: 0, end: 1000 });
  for (const ignored of [
    undefined,
    "",
    "bytes=-",
    "bytes=1000-",
    "bytes=20-10",
    "bytes=0-1,5-6",
    "lines=0-1",
    "bytes=-0",
  ])
    expect(of(ignored)).toBeUndefined();
  expect(byteRange("bytes=0-", 0)).toBeUndefined();
});
