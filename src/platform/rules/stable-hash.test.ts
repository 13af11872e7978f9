import { expect, test } from "vitest";
import { stableHash } from "./stable-hash.ts";

test("the order of fields does not count, at any depth; that of items does, and so does every value", () => {
  const hash = stableHash({ a: 1, b: { c: [{ d: 1, e: 2 }, 3] } });
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(stableHash({ b: { c: [{ e: 2, d: 1 }, 3] }, a: 1 })).toBe(hash);
  expect(stableHash({ a: 1, b: { c: [3, { d: 1, e: 2 }] } })).not.toBe(hash);
  expect(stableHash({ a: 1, b: { c: [{ d: 1, e: 3 }, 3] } })).not.toBe(hash);
  expect(stableHash({ a: 1, b: { c: [{ d: 1, e: 2 }, 3] }, f: null })).not.toBe(hash);
});

test("a field that is undefined is one that is left out", () => {
  expect(stableHash({ a: 1, b: undefined })).toBe(stableHash({ a: 1 }));
});
