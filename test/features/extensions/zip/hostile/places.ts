import { writeZip } from "../../../../support/zip-writer.ts";
import { manifest } from "../extension-files.ts";
import { type Hostile, hostile, withEntries, withEntry } from "./hostile.ts";

const overlapping = (): Buffer => {
  // Both entries are one local header and its data: what "a better zip bomb" multiplies.
  const first = manifest();
  const start = writeZip([first]).indexOf("PK\x01\x02");
  const shared = { name: "a.js", content: "x".repeat(1000) };
  return writeZip(
    [first, shared, { ...shared, central: { offset: start } }].map((entry, index) =>
      index === 2 ? { ...entry, name: "b.js", local: { name: Buffer.from("b.js") } } : entry,
    ),
  );
};

/** Entries in each other's place, hidden data, and files that are no archive. */
export const places: Hostile[] = [
  hostile("two entries with one local header", "headers_differ", '"b.js"', overlapping),
  hostile("an entry within another one", "overlap", '"outer.zip"', () => {
    const inner = { name: "b.js", content: "x" };
    const content = writeZip([inner]);
    const head = writeZip([manifest()]).indexOf("PK\x01\x02") + 30 + "outer.zip".length;
    const local = content.subarray(0, content.indexOf("PK\x01\x02"));
    // The third entry of the central directory points into the data of the second; it has no local header of its own.
    const whole = writeZip([manifest(), { name: "outer.zip", content: local, method: 0 }]);
    const directory = writeZip([{ ...inner, central: { offset: head } }]);
    const extra = directory.subarray(directory.indexOf("PK\x01\x02"), directory.length - 22);
    const end = Buffer.from(whole.subarray(whole.length - 22));
    end.writeUInt16LE(3, 8);
    end.writeUInt16LE(3, 10);
    end.writeUInt32LE(end.readUInt32LE(12) + extra.length, 12);
    return Buffer.concat([whole.subarray(0, whole.length - 22), extra, end]);
  }),
  hostile(
    "an entry that reaches into the central directory",
    "overlap",
    '"a.js"',
    withEntry({
      name: "a.js",
      content: "x",
      method: 0,
      both: { compressedSize: 20, size: 20 },
    }),
  ),
  hostile(
    "data before the first entry",
    "stray_data",
    "before the first entry",
    withEntries([], {
      prefix: Buffer.from("#!/bin/sh\n"),
    }),
  ),
  hostile(
    "the head of a .crx file",
    "stray_data",
    "before the first entry",
    withEntries([], {
      prefix: Buffer.from("Cr24\x03\0\0\0"),
    }),
  ),
  hostile("data before all offsets", "stray_data", "central directory", () =>
    Buffer.concat([Buffer.from("#!/bin/sh\n"), writeZip([manifest()])]),
  ),
  hostile(
    "data between entries",
    "stray_data",
    '"manifest.json"',
    withEntry({
      name: "a.js",
      content: "x",
      before: Buffer.from("hidden"),
    }),
  ),
  hostile(
    "data before the central directory",
    "stray_data",
    '"a.js"',
    withEntry({ name: "a.js", content: "x" }, { beforeDirectory: Buffer.alloc(100) }),
  ),
  hostile(
    "data behind the central directory",
    "stray_data",
    "central directory",
    withEntries([], {
      afterDirectory: Buffer.from("hidden"),
    }),
  ),
  hostile("data behind the end", "stray_data", "behind the end", withEntries([], { suffix: Buffer.from("hidden") })),
  hostile("a second archive behind the end", "stray_data", "before the first entry", () => {
    const [first, second] = [writeZip([manifest()]), writeZip([manifest({ name: "Other" })])];
    const end = Buffer.from(second.subarray(second.length - 22));
    end.writeUInt32LE(end.readUInt32LE(16) + first.length, 16);
    const directoryAt = second.indexOf("PK\x01\x02");
    const directory = Buffer.from(second.subarray(directoryAt, second.length - 22));
    directory.writeUInt32LE(first.length, 42);
    return Buffer.concat([first, second.subarray(0, directoryAt), directory, end]);
  }),
  hostile(
    "an end record in the comment",
    "stray_data",
    "behind the end",
    withEntries([], {
      comment: Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(40)]),
    }),
  ),
  hostile(
    "fewer entries than the central directory has",
    "stray_data",
    "central directory",
    withEntry({ name: "a.js", content: "x" }, { end: { total: 1 } }),
  ),
  hostile(
    "more entries than the central directory has",
    "malformed",
    "entry 3 of 3",
    withEntry({ name: "a.js", content: "x" }, { end: { total: 3 } }),
  ),
  hostile("a part of several archives", "malformed", "part of several", withEntries([], { end: { disk: 1 } })),
  hostile(
    "other counts for the disk and the archive",
    "malformed",
    "part of several",
    withEntries([], { end: { here: 7 } }),
  ),
  hostile("a cut archive", "not_a_zip", "no zip archive", () => writeZip([manifest()]).subarray(0, -30)),
  hostile("nothing", "not_a_zip", "no zip archive", () => Buffer.alloc(0)),
  hostile("text", "not_a_zip", "no zip archive", () => Buffer.from("manifest.json")),
];
