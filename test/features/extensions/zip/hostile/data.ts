import { deflateRawSync } from "node:zlib";
import { type Hostile, hostile, withEntry } from "./hostile.ts";

/** Data that can't be unpacked: encrypted, packed in another way, broken. */
export const data: Hostile[] = [
  hostile("an encrypted entry", "encrypted", '"a.js"', withEntry({ name: "a.js", content: "x", flag: 1 })),
  hostile("strong encryption", "malformed", "entry 2 of 2", withEntry({ name: "a.js", content: "x", flag: 0x41 })),
  hostile("masked headers", "encrypted", '"a.js"', withEntry({ name: "a.js", content: "x", flag: 0x2000 })),
  hostile("patched data", "unsupported_flag", '"a.js"', withEntry({ name: "a.js", content: "x", flag: 0x20 })),
  ...[1, 9, 12, 14, 93, 99].map((method) =>
    hostile(
      `the compression method ${method}`,
      "unsupported_method",
      '"a.js"',
      withEntry({
        name: "a.js",
        content: "x",
        method,
      }),
    ),
  ),
  hostile(
    "data that are not deflated",
    "malformed",
    '"a.js"',
    withEntry({ name: "a.js", content: "x", data: Buffer.alloc(20, 0xff) }),
  ),
  hostile(
    "data that end too early",
    "malformed",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "xyz".repeat(100),
      data: deflateRawSync("xyz".repeat(100)).subarray(0, 5),
    }),
  ),
  hostile(
    "bytes behind the compressed data",
    "stray_data",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      data: Buffer.concat([deflateRawSync("x"), Buffer.from("hidden")]),
    }),
  ),
  hostile(
    "a lot behind the compressed data",
    "stray_data",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      data: Buffer.concat([deflateRawSync("x"), Buffer.alloc(300_000)]),
    }),
  ),
  hostile("a wrong checksum", "wrong_checksum", '"a.js"', withEntry({ name: "a.js", content: "x", both: { crc: 1 } })),
  hostile(
    "a wrong checksum of stored data",
    "wrong_checksum",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      method: 0,
      both: { crc: 1 },
    }),
  ),
];
