import { crc32 } from "node:zlib";
import { extraField } from "../../../../support/zip-writer.ts";
import { manifest } from "../extension-files.ts";
import { type Hostile, hostile, withEntries, withEntry } from "./hostile.ts";

const named = (name: string | Buffer) => withEntry({ name, content: "x" });

/** Names that lead out of the folder, that nobody can read, or that two files have. */
export const names: Hostile[] = [
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
