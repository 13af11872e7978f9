import { describe, expect, test } from "vitest";
import { type Condition, Conditions } from "../../platform/kinds/conditions.ts";
import { acceptedDraft, conditionsOf, type Draft } from "./conditions.ts";

const nowMs = Date.parse("2030-01-01T00:00:00Z");
const refusal = { reason: "NameTaken", message: "spec.name: another one has it" };
const metadata = { name: "a", uid: "u", resourceVersion: "1", generation: 3 };

type Given = { before?: Condition[]; deletionTimestamp?: string };

const of = (drafts: Draft[], { before, ...more }: Given = {}): Condition[] =>
  conditionsOf(
    { metadata: { ...metadata, ...more }, ...(before && { status: { conditions: before } }) },
    drafts,
    nowMs,
  );

const shown = (conditions: Condition[]): string[] =>
  conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);

const ready = (status: boolean, more: Partial<Draft> = {}): Draft => ({
  ...{ type: "Ready", status, reason: "Stored", message: "it is stored" },
  ...more,
});

describe("conditions", () => {
  // GITOPS-1
  test("of a refused object say so at its generation, whatever its kind says of Ready", () => {
    const refused = [
      "Accepted=False NameTaken: spec.name: another one has it",
      "Ready=False NameTaken: spec.name: another one has it",
      "Stalled=True NameTaken: spec.name: another one has it",
    ];
    for (const draft of [ready(true), ready(false), ready(false, { outlook: "Reconciling" })]) {
      const conditions = of([acceptedDraft(refusal), draft]);
      expect(shown(conditions)).toEqual(refused);
      expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([3, 3, 3]);
      expect(Conditions.parse(conditions)).toEqual(conditions);
    }
  });

  // POOL-31
  test("keep what Ready says beyond the refusal", () => {
    const message = `${refusal.message}; 1 of 2 browsers up`;
    expect(of([acceptedDraft(refusal), ready(false, { message })])).toMatchObject([
      { type: "Accepted" },
      { type: "Ready", reason: "NameTaken", message },
      { type: "Stalled", message: refusal.message },
    ]);
  });

  // GITOPS-1, GITOPS-2
  test("lose Stalled and Reconciling once all is well", () => {
    const before = of([acceptedDraft(refusal), ready(true)]);
    expect(shown(of([acceptedDraft(), ready(true, { outlook: "Reconciling" })], { before }))).toEqual([
      "Accepted=True Accepted: the object is in force",
      "Ready=True Stored: it is stored",
    ]);
  });

  // GITOPS-2
  test.each(["Reconciling", "Stalled"] as const)("have %s for the reason for which Ready is False", (outlook) => {
    expect(shown(of([ready(false, { outlook })]))).toEqual([
      "Ready=False Stored: it is stored",
      `${outlook}=True Stored: it is stored`,
    ]);
  });

  test("of a deleted object have neither, and Ready is not True beside a refusal", () => {
    const deletionTimestamp = "2030-01-01T00:00:00Z";
    expect(shown(of([acceptedDraft(refusal), ready(true)], { deletionTimestamp }))[1]).toMatch(
      /^Ready=False NameTaken/,
    );
    expect(shown(of([acceptedDraft(refusal), ready(false)], { deletionTimestamp }))).toEqual([
      "Accepted=False NameTaken: spec.name: another one has it",
      "Ready=False Stored: it is stored",
    ]);
    expect(of([ready(false, { outlook: "Reconciling" })], { deletionTimestamp })).toHaveLength(1);
  });
});
