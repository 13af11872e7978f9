import { expect, test } from "vitest";
import { listReply, numberReply, textReply, textsReply } from "./script.ts";

test("a reply of the shape that is read comes through as it is", () => {
  expect(listReply([1, "a"])).toEqual([1, "a"]);
  expect(textReply("")).toBe("");
  expect(numberReply(0)).toBe(0);
  expect(textsReply(["a", ""])).toEqual(["a", ""]);
});

test.each([
  ["a list", () => listReply(null), "nil instead of a list"],
  ["a string", () => textReply(1), "number instead of a string"],
  ["an integer", () => numberReply("1"), "string instead of an integer"],
  ["a list of strings", () => textsReply(["a", 1]), "number instead of a string"],
])("a reply that is not %s is refused", (_, read, message) => {
  expect(read).toThrow(message);
});
