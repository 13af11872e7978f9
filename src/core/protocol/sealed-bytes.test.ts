import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openStream, openText, sealedStreamOverhead, sealStream, sealText } from "./sealed-bytes.ts";

const key = createSecretKey(randomBytes(32));
const other = createSecretKey(randomBytes(32));

const collect = async (stream: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};

const inParts = async function* (bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};

test("a sealed text opens with its key alone, and not after a change", () => {
  const sealed = sealText(key, "geheim ✓");
  expect(openText(key, sealed)).toBe("geheim ✓");
  expect(sealed.includes("geheim")).toBe(false);
  expect(sealText(key, "geheim ✓").equals(sealed)).toBe(false);
  expect(() => openText(other, sealed)).toThrow();
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => openText(key, changed)).toThrow();
  }
  for (const length of [0, 5, 12, 28]) expect(() => openText(key, sealed.subarray(0, length))).toThrow();
});

test.each([1, 7, 16, 1000])("a sealed stream opens with its key, in parts of %s bytes", async (size) => {
  const bytes = randomBytes(5000);
  const sealed = await collect(sealStream(key, inParts(bytes, 333)));
  expect(sealed).toHaveLength(bytes.length + sealedStreamOverhead);
  expect(await collect(openStream(key, inParts(sealed, size)))).toEqual(bytes);
  expect((await collect(openStream(other, inParts(sealed, size)))).equals(bytes)).toBe(false);
});
