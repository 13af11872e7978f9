import { type Hostile, hostile, withEntries, withEntry } from "./hostile.ts";

/** Links, devices, and files that are folders. */
export const fileKinds: Hostile[] = [
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
