import { expect, test } from "vitest";
import { choosePage } from "./choose-page.ts";
import { FillRefused } from "./fill-result.ts";

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
