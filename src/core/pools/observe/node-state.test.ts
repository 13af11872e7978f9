import { describe, expect, test } from "vitest";
import { storedMeta } from "../../../../test/support/stored-meta.ts";
import type { Node } from "../../../platform/kube/objects.ts";
import { nodeState } from "./node-state.ts";

const aNode = (spec: object = {}, ready = "True"): Node => ({
  metadata: storedMeta("n"),
  spec,
  status: { conditions: [{ type: "Ready", status: ready }] } as Node["status"] & object,
});
const well = { name: "n", leaving: undefined, isLost: false, isGone: false };
const tainted = (key: string, effect: string): Node => aNode({ taints: [{ key, effect }] });

test("a node that takes pods and reports is well; so is one of which nothing is known yet", () => {
  expect(nodeState("n", aNode())).toEqual(well);
  expect(nodeState("n", { metadata: storedMeta("n") })).toEqual(well);
});

describe("browsers leave", () => {
  test("a cordoned node", () => {
    expect(nodeState("n", aNode({ unschedulable: true }))).toEqual({ ...well, leaving: "it is cordoned" });
  });

  test.each([
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/out-of-service",
  ])("one with the taint %s", (key) => {
    const leaving = `it has the taint ${key}`;
    expect(nodeState("n", tainted(key, "NoSchedule"))).toMatchObject({ leaving });
    expect(nodeState("n", tainted(key, "NoExecute"))).toMatchObject({ leaving });
  });

  test("one that is gone, of which nothing is heard any more either", () => {
    expect(nodeState("n", undefined)).toEqual({ name: "n", leaving: "it is gone", isLost: true, isGone: true });
  });
});

describe("browsers stay", () => {
  test.each([
    ["DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule"],
    ["karpenter.sh/disrupted", "PreferNoSchedule"],
    ["example.com/dedicated", "NoSchedule"],
    ["node.kubernetes.io/unreachable", "NoExecute"],
  ])("on one with the taint %s:%s", (key, effect) => {
    expect(nodeState("n", tainted(key, effect))).toMatchObject({ leaving: undefined });
  });

  test.each(["False", "Unknown"])("on one whose Ready is %s, which may come back", (ready) => {
    expect(nodeState("n", aNode({}, ready))).toEqual({ ...well, isLost: true });
  });
});
