import { describe, expect, test } from "vitest";
import { namesIn, pathOf } from "./session-path.ts";

const up = ["..", "../..", "../../..", "./..", ".././..", "..//..", "a/..", "a/../..", "a/b/../../..", "..."];
const places = ["etc/passwd", "", "tmp", "proc/self/environ", "root/.ssh"];

/** Whatever is in front of a way up, it stays one. */
const waysUp = up
  .filter((way) => way.split("/").includes(".."))
  .flatMap((way) => [...places.map((place) => `/tmp/${way}/${place}`), `/${way}/tmp`, `/tmp/x/${way}`, `/${way}`]);

const elsewhere = [
  ...["", "tmp", "tmp/x", "./tmp/x", "~", "~/x", "/", "//", "/etc/passwd", "/tmpx/y", "/Tmp/x", "/ tmp/x", "/tm/p"],
  ...["/proc/self/root/tmp", "/dev/shm/x", "file:///tmp/x", "C:\\tmp\\x", "\\tmp\\x", "/tmp\\..\\etc", "/%74mp/x"],
];

const noPaths = ["/tmp/\0", "/tmp/a\0b", "/tmp/\ud800", `/tmp/${"a".repeat(256)}`, `/tmp/${"é".repeat(128)}`];
const tooDeep = `/tmp${"/a".repeat(65)}`;
const tooLong = `/tmp/${"a/".repeat(2100)}`;

describe("a path of a session's files", () => {
  // FILE-2
  test.each([...waysUp, ...elsewhere, ...noPaths, tooDeep, tooLong])(
    "is refused when it leads elsewhere: %j",
    (path) => {
      expect(() => namesIn(path)).toThrow(/must|path|at most/);
    },
  );

  // FILE-2
  test.each([
    ["/tmp", []],
    ["/tmp/", []],
    ["//tmp//a///b/", ["a", "b"]],
    ["/tmp/./a/./b/.", ["a", "b"]],
    ["/tmp/...", ["..."]],
    ["/tmp/..a/b..", ["..a", "b.."]],
    ["/tmp/%2e%2e/x", ["%2e%2e", "x"]],
    ["/tmp/a\\..\\b", ["a\\..\\b"]],
    ["/tmp/ \t\n", [" \t\n"]],
    ["/tmp/\u202e\u00e9e\u0301𝒳", ["\u202e\u00e9e\u0301𝒳"]],
    ["/tmp/-rf", ["-rf"]],
    [`/tmp/${"a".repeat(255)}`, ["a".repeat(255)]],
  ])("is a list of names: %j", (path, names) => {
    expect(namesIn(path)).toEqual(names);
    expect(namesIn(pathOf(names))).toEqual(names);
  });
});
