import { expect, test } from "vitest";
import { keysOf, keysymOf } from "./keys.ts";

test.each([
  ["Return", [0xff0d]],
  ["enter", [0xff0d]],
  ["a", [0x61]],
  ["A", [0x41]],
  ["é", [0xe9]],
  ["€", [0x010020ac]],
  ["😀", [0x0101f600]],
  ["U1F600", [0x0101f600]],
  ["F5", [0xffc2]],
  ["f24", [0xffd5]],
  ["Ctrl+t", [0xffe3, 0x74]],
  ["ctrl+shift+Tab", [0xffe3, 0xffe1, 0xff09]],
  ["Ctrl+minus", [0xffe3, 0x2d]],
  ["Ctrl+-", [0xffe3, 0x2d]],
  ["Ctrl++", [0xffe3, 0x2b]],
  ["Ctrl+plus", [0xffe3, 0x2b]],
  ["+", [0x2b]],
  ["Page_Down", [0xff56]],
  ["PageDown", [0xff56]],
  ["Next", [0xff56]],
  ["dead_acute", [0xfe51]],
  ["space", [0x20]],
  ["Cmd+c", [0xffeb, 0x63]],
])("the keys of %s", (name, keysyms) => {
  expect(keysOf(name)).toEqual({ keysyms });
});

test.each([
  ["Foo", "Foo"],
  ["Ctrl+Foo", "Foo"],
  ["F25", "F25"],
  ["F0", "F0"],
  ["constructor", "constructor"],
  ["Ctrl+", ""],
  ["U110000", "U110000"],
])("no key has the name in %s", (name, unknown) => {
  expect(keysOf(name)).toEqual({ unknown });
});

test("lines and tabs are typed by their keys", () => {
  expect([..."\n\r\t"].map(keysymOf)).toEqual([0xff0d, 0xff0d, 0xff09]);
});
