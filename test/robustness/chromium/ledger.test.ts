import { expect, test } from "vitest";
import { createLedger, type Ledger, type Marks } from "./ledger.ts";

const nothing: Marks = { cookie: undefined, windowName: undefined, browser: undefined };
const marksOf = (holder: string, browser = "p"): Marks => ({ cookie: holder, windowName: holder, browser });
const found = (ledger: Ledger): string[] => ledger.violations().map(({ what, holder }) => `${holder}: ${what}`);
/** Unless said otherwise the browser is `p`, asked for before anything has died. */
const enter = (ledger: Ledger, holder: string, marks: Marks, more: { pod?: string; askedAtMs?: number } = {}): void =>
  ledger.enter({ holder, pod: "p", askedAtMs: 0, found: marks, ...more });

/** A ledger in which `a` was the first holder of the browser `p`. */
const afterA = (how: "reused" | "destroyed"): Ledger => {
  const ledger = createLedger();
  enter(ledger, "a", nothing);
  ledger.look("a", marksOf("a"));
  ledger.leave("a", how);
  return ledger;
};

test("a chain of holders, each finding nothing and then its own, is as it should be", () => {
  const ledger = afterA("reused");
  enter(ledger, "b", nothing);
  ledger.look("b", marksOf("b"));
  ledger.leave("b", "reused");
  enter(ledger, "c", nothing);
  ledger.leave("c", "destroyed");
  enter(ledger, "d", nothing, { pod: "q" });
  expect(found(ledger)).toEqual([]);
});

test("a browser whose state is lost while it is held is named", () => {
  const ledger = createLedger();
  enter(ledger, "a", nothing);
  ledger.look("a", { ...marksOf("a"), windowName: undefined });
  expect(found(ledger)).toEqual(["a: windowName: what a left is gone"]);
});

test("state of the last holder, of another browser and of nobody is named", () => {
  const ledger = afterA("reused");
  enter(ledger, "b", { ...nothing, cookie: "a" });
  enter(ledger, "c", { ...nothing, cookie: "b" }, { pod: "q" });
  enter(ledger, "d", { ...nothing, windowName: "x" }, { pod: "r" });
  expect(found(ledger)).toEqual([
    "b: cookie: what a left",
    "c: cookie: what b left in another browser",
    "d: windowName: something that no holder has left",
  ]);
});

test("a browser that was to be destroyed and is handed out is named, and its state too", () => {
  const ledger = afterA("destroyed");
  enter(ledger, "b", marksOf("a"));
  expect(found(ledger)).toEqual([
    "b: a had it destroyed",
    "b: cookie: what a left, who gave the browser up for destruction",
    "b: windowName: what a left, who gave the browser up for destruction",
    "b: the browser says that it is p",
  ]);
});

test("two holders at once are named by the ledger, and by what the first one sees", () => {
  const ledger = createLedger();
  enter(ledger, "a", nothing);
  enter(ledger, "b", marksOf("a"));
  ledger.look("a", marksOf("b"));
  expect(found(ledger)).toContain("b: a holds it too");
  expect(found(ledger)).toContain("a: cookie: what b left, who still holds the browser");
});

test("a browser that says it is another one is named", () => {
  const ledger = afterA("reused");
  enter(ledger, "b", { ...nothing, browser: "q" });
  expect(found(ledger)).toEqual(["b: the browser says that it is q"]);
});

test("a dead browser may be given to who asked before its death was seen, and to nobody after", () => {
  for (const [askedAtMs, expected] of [
    [9, []],
    [11, ["b: a dead browser was handed out"]],
  ] as const) {
    const ledger = afterA("reused");
    ledger.kill("p", "held agent");
    ledger.died("p", 10);
    enter(ledger, "b", nothing, { askedAtMs });
    expect(found(ledger)).toEqual(expected);
  }
});

test("a stay may break by a kill, once for each, and else never", () => {
  const ledger = createLedger();
  ledger.kill("p", "held agent");
  ledger.broke({ holder: "a", pod: "p", why: "cut" });
  expect(found(ledger)).toEqual([]);
  ledger.broke({ holder: "b", pod: "p", why: "cut" });
  ledger.broke({ holder: "c", pod: "q", why: "cut" });
  expect(found(ledger)).toEqual(["b: a dead browser had another holder", "c: the stay broke without a crash: cut"]);
});

test("a stay that broke nobody knows where is excused by a kill that broke no other", () => {
  const ledger = createLedger();
  ledger.broke({ holder: "a", pod: "", why: "cut" });
  expect(found(ledger)).toEqual(["a: the stay broke without a crash: cut"]);
  ledger.kill("p", "held agent");
  expect(found(ledger)).toEqual([]);
});
