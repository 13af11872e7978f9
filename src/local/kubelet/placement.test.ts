import { describe, expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import type { Node, Pod } from "../../platform/kube/objects.ts";
import { whyNotPlaced } from "./placement.ts";

type Toleration = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>[number];

const aPod = (...tolerations: Toleration[]): Pod => ({
  metadata: storedMeta("p"),
  spec: { containers: [], tolerations },
});
const aNode = (spec: object = {}): Node => ({ metadata: storedMeta("n"), spec });
const taint = { key: "going", value: "soon", effect: "NoSchedule" };
const tainted = aNode({ taints: [taint] });

test("a plain node takes every pod", () => {
  expect(whyNotPlaced(aPod(), aNode())).toBeUndefined();
});

test("a cordoned node takes none but one that tolerates it", () => {
  const cordoned = aNode({ unschedulable: true });
  expect(whyNotPlaced(aPod(), cordoned)).toBe("node(s) were unschedulable");
  expect(whyNotPlaced(aPod({ key: "node.kubernetes.io/unschedulable", operator: "Exists" }), cordoned)).toBeUndefined();
});

describe("a tainted node", () => {
  test("takes no pod, unless the taint is a mere preference", () => {
    expect(whyNotPlaced(aPod(), tainted)).toBe("node(s) had untolerated taint {going: soon}");
    expect(whyNotPlaced(aPod(), aNode({ taints: [{ ...taint, effect: "PreferNoSchedule" }] }))).toBeUndefined();
  });

  test.each<[string, Toleration, boolean]>([
    ["its key and value", { key: "going", value: "soon" }, true],
    ["its key with any value", { key: "going", operator: "Exists" }, true],
    ["everything", { operator: "Exists" }, true],
    ["its effect", { key: "going", operator: "Exists", effect: "NoSchedule" }, true],
    ["another value", { key: "going", value: "later" }, false],
    ["another key", { key: "gone", operator: "Exists" }, false],
    ["another effect", { key: "going", operator: "Exists", effect: "NoExecute" }, false],
  ])("and a pod that tolerates %s", (_, toleration, isPlaced) => {
    expect(whyNotPlaced(aPod(toleration), tainted) === undefined).toBe(isPlaced);
  });
});
