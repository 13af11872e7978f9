import { expect, test } from "vitest";
import { choosePage, chooseTargets, frameFilter } from "./choose-targets.ts";
import { FillRefused } from "./fill-result.ts";
import type { Frame } from "./frames.ts";
import type { FrameFields } from "./locate-fields.ts";

type Target = Parameters<typeof choosePage>[0][number];

const target = (url: string, more: Partial<Target> = {}): Target => ({
  targetId: url,
  type: "page",
  title: "",
  url,
  attached: false,
  canAccessOpener: false,
  ...more,
});
const a = target("https://a.test/");
const hash = target("https://a.test/#login");
const blank = target("about:blank");
const twin = { ...a, targetId: "twin" };

// FILL-12, FILL-13
test.each<[string, Target[], string | undefined, string]>([
  ["the one with exactly this URL", [a, hash], "https://a.test/#login", hash.targetId],
  ["the one without the fragment", [a, hash], "https://a.test/", a.targetId],
  ["the only one", [a], undefined, a.targetId],
  ["the only one, which is blank", [blank], undefined, blank.targetId],
  [
    "the only one beside the browser's own",
    [target("chrome://newtab/"), target("devtools://x"), a],
    undefined,
    a.targetId,
  ],
  ["the only one beside an extension's", [target("chrome-extension://x/y.html"), a], undefined, a.targetId],
  [
    "the only one beside its frames and workers",
    [target(a.url, { type: "iframe" }), target("x", { type: "worker" }), a],
    undefined,
    a.targetId,
  ],
  [
    "the one that is open, not the one made ahead",
    [target(a.url, { targetId: "ahead", subtype: "prerender" }), a],
    a.url,
    a.targetId,
  ],
])("the page is %s", (_name, targets, pageUrl, expected) => {
  expect(choosePage(targets, pageUrl)).toBe(expected);
});

// FILL-12, FILL-13
test.each<[string, Target[], string | undefined, string]>([
  ["no page has the URL", [a], "https://a.test", "page_not_found"],
  ["it is the browser's own", [target("chrome://settings/")], "chrome://settings/", "page_not_found"],
  ["there is none", [], undefined, "page_not_found"],
  ["two have the URL", [a, twin], a.url, "page_ambiguous"],
  ["none is named and there are two", [a, blank], undefined, "page_ambiguous"],
])("there is no page when %s", (_name, targets, pageUrl, code) => {
  expect(() => choosePage(targets, pageUrl)).toThrow(new FillRefused(code as FillRefused["code"]));
});

const main: Frame = { sessionId: "page", objectId: "1", parent: undefined };
const child: Frame = { sessionId: "page", objectId: "2", parent: main };
const grandchild: Frame = { sessionId: "other", objectId: "1", parent: child };

type Found = FrameFields["found"][number];
const nothing: Found = { isValid: true, matched: 0, editable: [], locked: [] };
const field = (...editable: number[]): Found => ({ isValid: true, matched: 1, editable, locked: [] });
const look = (frame: Frame, origin: string, ...found: Found[]): FrameFields => ({
  frame,
  url: "",
  origin,
  hasFocus: true,
  isScripted: false,
  found,
});

const refusal = (looks: FrameFields[], selectors: string[], allowed?: string[]): unknown => {
  try {
    return chooseTargets(looks, selectors, frameFilter(looks, allowed));
  } catch (error) {
    return error instanceof FillRefused ? [error.code, error.index] : error;
  }
};

// FILL-14, FILL-15
test("each selector means the one field that any frame has", () => {
  const looks = [look(main, "a", nothing, field(0)), look(child, "a", field(0), nothing)];
  expect(chooseTargets(looks, ["#x", "#y"], () => true)).toEqual([
    { frame: child, id: 0, selector: "#x" },
    { frame: main, id: 0, selector: "#y" },
  ]);
});

test("a match without a field does not count beside a field", () => {
  expect(chooseTargets([look(main, "a", field()), look(child, "a", field(3))], ["#x"], () => true)).toHaveLength(1);
});

// FILL-16, FILL-17
test.each<[string, FrameFields[], unknown]>([
  [
    "no frame has a match",
    [look(main, "a", field(0), nothing), look(child, "a", nothing, nothing)],
    ["element_not_found", 1],
  ],
  [
    "no match is editable",
    [look(main, "a", field(0), field()), look(child, "a", nothing, nothing)],
    ["element_not_editable", 1],
  ],
  ["a frame has two fields", [look(main, "a", field(0), field(1, 2))], ["ambiguous_selector", 1]],
  [
    "two frames have a field",
    [look(main, "a", field(0), field(1)), look(child, "a", nothing, field(0))],
    ["ambiguous_selector", 1],
  ],
  ["it is no selector", [look(main, "a", field(0), { ...nothing, isValid: false })], ["invalid_selector", 1]],
  ["it means an earlier one's field", [look(main, "a", field(0), field(0))], ["duplicate_target", 1]],
  ["the first is wrong as well, which is told first", [look(main, "a", nothing, nothing)], ["element_not_found", 0]],
])("a binding is refused when %s", (_name, looks, expected) => {
  expect(refusal(looks, ["#x", "#y"])).toEqual(expected);
});

test("fields of two frames with the same number are two fields", () => {
  const looks = [look(main, "a", field(0), nothing), look(child, "a", nothing, field(0))];
  expect(chooseTargets(looks, ["#x", "#y"], () => true)).toHaveLength(2);
});

// FILL-19
test.each<[string, string[], string[], unknown]>([
  ["its frame", ["a", "a", "b"], ["a"], ["origin_not_allowed", 0]],
  ["a frame around it", ["a", "b", "a"], ["a"], ["origin_not_allowed", 0]],
  ["the page", ["b", "a", "a"], ["a"], ["origin_not_allowed", 0]],
  ["a frame that has none", ["a", "null", "a"], ["a"], ["origin_not_allowed", 0]],
  ["every frame, as nothing is allowed,", ["a", "a", "a"], [], ["origin_not_allowed", 0]],
  ["no frame", ["a", "b", "c"], ["c", "b", "a"], [{ frame: grandchild, id: 0, selector: "#x" }]],
])("the origin of %s is not allowed", (_name, [own = "", around = "", inner = ""], allowed, expected) => {
  const looks = [look(main, own, nothing), look(child, around, nothing), look(grandchild, inner, field(0))];
  expect(refusal(looks, ["#x"], allowed)).toEqual(expected);
});

test("a frame whose outer frame could not say its origin is not allowed", () => {
  expect(refusal([look(main, "a", nothing), look(grandchild, "a", field(0))], ["#x"], ["a"])).toEqual([
    "origin_not_allowed",
    0,
  ]);
});
