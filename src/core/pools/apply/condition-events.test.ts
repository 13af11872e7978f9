import { expect, test } from "vitest";
import { type Condition, Conditions } from "../../../platform/kinds/conditions.ts";
import { type ConditionNote, conditionNotes } from "./condition-events.ts";

type Draft = [type: string, status: "True" | "False", reason: string, message: string];

const status = (...drafts: Draft[]): Condition[] =>
  Conditions.parse(
    drafts.map(([type, is, reason, message]) => ({
      type,
      status: is,
      reason,
      message,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    })),
  );
const notes = (before: Condition[], after: Condition[]): ConditionNote[] => conditionNotes({ before, after });

const refused: Draft = ["Accepted", "False", "NameTaken", "spec.name: a is the name of pool b"];
const accepted: Draft = ["Accepted", "True", "Accepted", "the configuration is in force"];
const filling: Draft = ["Ready", "False", "Filling", "1 of 2 browsers up"];
const filled: Draft = ["Ready", "True", "Filled", "2 of 2 browsers up"];

test("a refused configuration is a warning with its reason, once", () => {
  expect(notes([], status(refused))).toEqual([
    { type: "Warning", reason: "NameTaken", note: "spec.name: a is the name of pool b" },
  ]);
  expect(notes(status(refused), status(refused))).toEqual([]);
});

test("a configuration that is in force again is told, the first one is not", () => {
  expect(notes(status(refused), status(accepted))).toMatchObject([{ type: "Normal", reason: "Accepted" }]);
  expect(notes([], status(accepted))).toEqual([]);
});

test("what a deletion waits for is told once", () => {
  const draining: Draft = ["Progressing", "True", "Draining", "waiting for 1 browser in use"];
  expect(notes(status(filled), status(draining))).toEqual([
    { type: "Normal", reason: "Draining", note: "waiting for 1 browser in use" },
  ]);
  expect(notes(status(draining), status(draining))).toEqual([]);
});

test("a pool that becomes full is told, one that stays full or fills is not", () => {
  expect(notes(status(filling), status(filled))).toMatchObject([{ type: "Normal", reason: "Filled" }]);
  expect(notes(status(filled), status(filled))).toEqual([]);
  expect(notes(status(filled), status(filling))).toEqual([]);
});
