import { writeZip } from "../../../../support/zip-writer.ts";
import { type Hostile, hostile, withEntries, withEntry } from "./hostile.ts";

/** Too much, and sizes that are not true. */
export const sizes: Hostile[] = [
  hostile(
    "more bytes than the ratio allows",
    "unpacked_too_large",
    '"zeros.bin"',
    withEntry({
      name: "zeros.bin",
      content: Buffer.alloc(8 * 1024 * 1024),
    }),
  ),
  hostile(
    "many files that are too much together",
    "unpacked_too_large",
    '.bin"',
    withEntries(Array.from({ length: 40 }, (_, index) => ({ name: `${index}.bin`, content: Buffer.alloc(500_000) }))),
  ),
  hostile(
    "more than 200 MiB",
    "unpacked_too_large",
    '"zeros.bin"',
    withEntries([
      // Noise makes the archive large enough for the ratio.
      { name: "noise.bin", content: Buffer.alloc(2_300_000, 1), method: 0 },
      { name: "zeros.bin", content: Buffer.alloc(208 * 1024 * 1024) },
    ]),
  ),
  hostile(
    "a size that is too small",
    "wrong_size",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x".repeat(5000),
      both: { size: 10 },
    }),
  ),
  hostile(
    "a size that is too large",
    "wrong_size",
    '"a.js"',
    withEntry({ name: "a.js", content: "x", both: { size: 10 } }),
  ),
  hostile(
    "a stored entry with two sizes",
    "wrong_size",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "xyz",
      method: 0,
      both: { size: 2 },
    }),
  ),
  hostile("10,001 files", "too_many_files", "10000", () =>
    writeZip(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.js`, method: 0 }))),
  ),
  hostile(
    "folders that only names imply",
    "too_many_files",
    "10000",
    withEntries(Array.from({ length: 30 }, (_, index) => ({ name: `${index}/${"a/".repeat(400)}x`, method: 0 }))),
  ),
  hostile(
    "an archive above 50 MiB",
    "archive_too_large",
    "52428800",
    withEntry({
      name: "a.bin",
      method: 0,
      content: Buffer.alloc(50 * 1024 * 1024),
    }),
  ),
];
