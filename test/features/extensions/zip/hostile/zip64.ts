import { extraField } from "../../../../support/zip-writer.ts";
import { type Hostile, hostile, withEntries, withEntry } from "./hostile.ts";

const u64 = (...values: bigint[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index);
  return bytes;
};

/** A zip64 locator that points at `offset`. */
const zip64Locator = (offset: bigint): Buffer => {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32LE(0x07064b50, 0);
  bytes.writeBigUInt64LE(offset, 8);
  bytes.writeUInt32LE(1, 16);
  return bytes;
};

/** Sizes and places beyond 4 GiB. */
export const zip64: Hostile[] = [
  hostile(
    "zip64 sizes",
    "zip64",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      central: { size: 0xffffffff, extra: extraField(1, u64(1n)) },
    }),
  ),
  hostile(
    "a zip64 offset that no file has",
    "zip64",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      central: { offset: 0xffffffff, extra: extraField(1, u64(2n ** 63n)) },
    }),
  ),
  hostile(
    "zip64 sizes in the local header",
    "zip64",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      local: { extra: extraField(1, u64(1n, 1n)) },
    }),
  ),
  hostile(
    "a zip64 end record that no file has",
    "zip64",
    "zip64 archive",
    withEntries([], {
      afterDirectory: zip64Locator(2n ** 63n),
    }),
  ),
  hostile(
    "a zip64 locator in the comment of the last entry",
    "zip64",
    "zip64 archive",
    withEntry({
      name: "a.js",
      content: "x",
      central: { comment: zip64Locator(0n) },
    }),
  ),
];
