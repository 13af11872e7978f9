/** Archives that must be refused: for each its bytes, the rule that it breaks, and what the message names. */
import { crc32, deflateRawSync } from "node:zlib";
import type { ArchiveRule } from "../../src/extension-zip/archive-refused.ts";
import { extraField, writeZip, type ZipEntry, type ZipOptions } from "../support/zip-writer.ts";
import { manifest } from "./extension-files.ts";

export type Hostile = { title: string; rule: ArchiveRule; names: string; bytes: () => Buffer };

const hostile = (title: string, rule: ArchiveRule, names: string, bytes: () => Buffer): Hostile => ({
  title,
  rule,
  names,
  bytes,
});

const withEntry = (entry: ZipEntry, options?: ZipOptions) => () => writeZip([manifest(), entry], options);
const withEntries = (entries: ZipEntry[], options?: ZipOptions) => () => writeZip([manifest(), ...entries], options);
const named = (name: string | Buffer) => withEntry({ name, content: "x" });

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

const names: Hostile[] = [
  hostile("a path up", "name_path", '"../evil.js"', named("../evil.js")),
  hostile("a path up in the middle", "name_path", '"a/../../evil.js"', named("a/../../evil.js")),
  hostile("a folder up", "name_path", '"../"', withEntry({ name: "../", method: 0 })),
  hostile("a path of a single dot", "name_path", '"./a.js"', named("./a.js")),
  hostile("an absolute path", "name_path", '"/etc/cron.d/x"', named("/etc/cron.d/x")),
  hostile("a drive letter", "name_path", '"C:/x.js"', named("C:/x.js")),
  hostile("a drive letter without a slash", "name_path", '"c:x.js"', named("c:x.js")),
  hostile("a backslash", "name_path", '"..\\\\evil.js"', named("..\\evil.js")),
  hostile("an empty part", "name_path", '"a//b.js"', named("a//b.js")),
  hostile("an empty name", "name_length", '""', named("")),
  hostile("a NUL", "name_characters", '"a.js\\u{0}.png"', named("a.js\0.png")),
  hostile("a line break", "name_characters", '"a\\u{a}b.js"', named("a\nb.js")),
  hostile("DEL", "name_characters", '"a\\u{7f}.js"', named("a\x7f.js")),
  hostile("a control character of C1", "name_characters", '"a\\u{85}.js"', named("a\u0085.js")),
  hostile("a name that is not UTF-8", "name_encoding", '.js"', named(Buffer.from([0xff, 0xfe, 0x2e, 0x6a, 0x73]))),
  hostile(
    "an overlong slash",
    "name_encoding",
    "evil",
    named(Buffer.from([0x2e, 0x2e, 0xc0, 0xaf, ...Buffer.from("evil")])),
  ),
  hostile("a second name in an extra field", "name_encoding", '"a.js"', () => {
    const unicode = Buffer.concat([Buffer.from([1]), Buffer.alloc(4), Buffer.from("../evil.js")]);
    unicode.writeUInt32LE(crc32("a.js"), 1);
    return withEntry({ name: "a.js", content: "x", extra: extraField(0x7075, unicode) })();
  }),
  hostile("a part of 256 bytes", "name_length", '"aaaa', named(`${"a".repeat(256)}`)),
  hostile("a path of 1025 bytes", "name_length", '"abc/', named("abc/".repeat(256).concat("d"))),
  hostile(
    "a name twice",
    "name_collision",
    '"a.js"',
    withEntries([
      { name: "a.js", content: "x" },
      { name: "a.js", content: "y" },
    ]),
  ),
  hostile("two manifests", "name_collision", '"manifest.json"', withEntry(manifest())),
  hostile(
    "names that differ in case",
    "name_collision",
    '"A.js"',
    withEntries([
      { name: "a.js", content: "x" },
      { name: "A.js", content: "y" },
    ]),
  ),
  hostile(
    "folders that differ in case",
    "name_collision",
    '"LIB/b.js"',
    withEntries([
      { name: "lib/a.js", content: "x" },
      { name: "LIB/b.js", content: "y" },
    ]),
  ),
  hostile("a manifest in other case", "name_collision", '"Manifest.JSON"', named("Manifest.JSON")),
  hostile(
    "names that are composed differently",
    "name_collision",
    '.js"',
    withEntries([
      { name: "caf\u00e9.js", content: "x" },
      { name: "cafe\u0301.js", content: "y" },
    ]),
  ),
  hostile(
    "sharp s and ss",
    "name_collision",
    '"strasse.js"',
    withEntries([
      { name: "straße.js", content: "x" },
      { name: "strasse.js", content: "y" },
    ]),
  ),
];

const kinds: Hostile[] = [
  hostile("a link", "special_file", '"passwd"', withEntry({ name: "passwd", content: "/etc/passwd", mode: 0o120777 })),
  hostile(
    "a link to a folder, and a file behind it",
    "special_file",
    '"out"',
    withEntries([
      { name: "out", content: "/tmp", mode: 0o120777 },
      { name: "out/evil.js", content: "x" },
    ]),
  ),
  hostile(
    "a link from another system than Unix",
    "special_file",
    '"passwd"',
    withEntry({
      name: "passwd",
      content: "/etc/passwd",
      dosAttributes: 0xa1ff0000,
    }),
  ),
  hostile("a device", "special_file", '"null"', withEntry({ name: "null", mode: 0o020666 })),
  hostile("a pipe", "special_file", '"pipe"', withEntry({ name: "pipe", mode: 0o010666 })),
  hostile("a socket", "special_file", '"socket"', withEntry({ name: "socket", mode: 0o140666 })),
  hostile(
    "a file with files in it",
    "folder_or_file",
    '"a/b.js"',
    withEntries([
      { name: "a", content: "x" },
      { name: "a/b.js", content: "y" },
    ]),
  ),
  hostile(
    "a folder that is a file later",
    "folder_or_file",
    '"a"',
    withEntries([
      { name: "a/b.js", content: "x" },
      { name: "a", content: "y" },
    ]),
  ),
  hostile("a folder with content", "folder_or_file", '"a/"', withEntry({ name: "a/", content: "x" })),
  hostile(
    "a folder by its mode, a file by its name",
    "folder_or_file",
    '"a"',
    withEntry({ name: "a", mode: 0o040755 }),
  ),
  hostile("a folder by its DOS attribute", "folder_or_file", '"a"', withEntry({ name: "a", dosAttributes: 0x10 })),
  hostile(
    "a file by its mode, a folder by its name",
    "folder_or_file",
    '"a/"',
    withEntry({ name: "a/", mode: 0o100644 }),
  ),
];

const sizes: Hostile[] = [
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

const packed: Hostile[] = [
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

const headers: Hostile[] = [
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

const zip64: Hostile[] = [
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

const places: Hostile[] = [
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

const manifests: Hostile[] = [
  hostile("no entries", "no_manifest", "manifest.json", () => writeZip([])),
  hostile("no manifest", "no_manifest", "manifest.json", () => writeZip([{ name: "a.js", content: "x" }])),
  hostile("a folder around everything", "no_manifest", '"sample/manifest.json"', () =>
    writeZip([{ ...manifest(), name: "sample/manifest.json" }]),
  ),
  hostile("a folder named like the manifest", "no_manifest", "manifest.json", () =>
    writeZip([{ name: "manifest.json/", method: 0 }]),
  ),
  ...(
    [
      ["no JSON", "{", "JSON"],
      ["comments", '{"manifest_version": 3, // three\n"name": "x", "version": "1"}', "JSON"],
      ["a list", "[]", "manifest.json"],
      ["manifest_version 2", '{"manifest_version": 2, "name": "x", "version": "1"}', "manifest_version"],
      ["manifest_version 1", '{"manifest_version": 1, "name": "x", "version": "1"}', "manifest_version"],
      ["manifest_version as text", '{"manifest_version": "3", "name": "x", "version": "1"}', "manifest_version"],
      ["no name", '{"manifest_version": 3, "version": "1"}', "name"],
      ["a blank name", '{"manifest_version": 3, "name": " ", "version": "1"}', "name"],
      ["no version", '{"manifest_version": 3, "name": "x"}', "version"],
      ["a version that is a number", '{"manifest_version": 3, "name": "x", "version": 1}', "version"],
      ["a version that is no version", '{"manifest_version": 3, "name": "x", "version": "1.a"}', "version"],
      ["nested too deeply", "[".repeat(500_000), "JSON"],
    ] as const
  ).map(([what, content, mentioned]) =>
    hostile(`a manifest: ${what}`, "bad_manifest", mentioned, () => writeZip([{ name: "manifest.json", content }])),
  ),
  hostile("a manifest above 1 MiB", "bad_manifest", "1048576", () =>
    writeZip([{ ...manifest({ description: Buffer.alloc(1_100_000, "ab c1").toString() }), method: 0 }]),
  ),
];

/** All of them. */
export const hostileArchives: Hostile[] = [
  ...names,
  ...kinds,
  ...sizes,
  ...packed,
  ...headers,
  ...zip64,
  ...places,
  ...manifests,
];
