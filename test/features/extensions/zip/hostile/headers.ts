import { crc32 } from "node:zlib";
import { type Hostile, hostile, withEntry } from "./hostile.ts";

/** Headers that contradict each other, or are broken. */
export const headers: Hostile[] = [
  ...(
    [
      ["name", { name: Buffer.from("b.js") }],
      ["flags", { flag: 0x800 }],
      ["encryption", { flag: 1 }],
      ["compression method", { method: 0 }],
      ["checksum", { crc: 7 }],
      ["compressed size", { compressedSize: 1 }],
      ["size", { size: 7 }],
    ] as const
  ).map(([what, local]) =>
    hostile(
      `another ${what} in the local header`,
      "headers_differ",
      '"a.js"',
      withEntry({
        name: "a.js",
        content: "some text",
        local,
      }),
    ),
  ),
  hostile("a data descriptor with a wrong size", "headers_differ", '"a.js"', () => {
    const descriptor = Buffer.alloc(12);
    descriptor.writeUInt32LE(crc32("x"), 0);
    return withEntry({ name: "a.js", content: "x", descriptor })();
  }),
  hostile(
    "a data descriptor that is missing",
    "stray_data",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      descriptor: Buffer.alloc(0),
    }),
  ),
  hostile(
    "a broken extra field",
    "malformed",
    "entry 2 of 2",
    withEntry({
      name: "a.js",
      content: "x",
      extra: Buffer.from([1, 0, 200, 0, 1]),
    }),
  ),
  hostile(
    "a broken extra field of the local header",
    "malformed",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      local: { extra: Buffer.from([1, 0, 200, 0, 1]) },
    }),
  ),
  hostile(
    "a local header that is none",
    "malformed",
    '"a.js"',
    withEntry({ name: "a.js", content: "x", central: { offset: 3 } }),
  ),
  hostile(
    "a local header beyond the end",
    "malformed",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      central: { offset: 0xfffffff0 },
    }),
  ),
  hostile(
    "data beyond the end",
    "malformed",
    '"a.js"',
    withEntry({ name: "a.js", content: "x", both: { compressedSize: 90_000 } }),
  ),
  hostile(
    "a broken central directory",
    "malformed",
    "entry 2 of 2",
    withEntry({
      name: "a.js",
      content: "x",
      central: { signature: 0 },
    }),
  ),
];
