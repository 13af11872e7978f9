import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import { Sensitive } from "../../platform/base/sensitive.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { expandVariables, podEnvironment } from "./pod-process.ts";

test.each([
  ["$(A)-$(A)", "1-1"],
  ["$(MISSING) stays", "$(MISSING) stays"],
  ["$$(A) is escaped", "$(A) is escaped"],
  ["$$$(A)", "$1"],
  ["$A and $ stay", "$A and $ stay"],
  ["$(toString)", "$(toString)"],
])("%s expands to %s", (text, expanded) => {
  expect(expandVariables(text, { A: "1" })).toBe(expanded);
});

test("fields of the pod, values of Secrets and earlier variables are resolved, later ones are not", () => {
  const fieldRef = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
  const env = [
    { name: "IP", ...fieldRef("status.podIP") },
    { name: "UID", ...fieldRef("metadata.uid") },
    { name: "WHERE", value: "http://$(IP)/$(LATER)" },
    { name: "LATER", value: "x" },
    { name: "EMPTY" },
    { name: "KEY", valueFrom: { secretKeyRef: { name: "pod-agent-key", key: "key" } } },
  ];
  const pod: Pod = {
    metadata: storedMeta("pod", { uid: "u-1" }),
    spec: { containers: [{ name: "agent", args: ["run", "$(UID)"], env }] },
  };
  expect(podEnvironment(pod, "127.1.2.3", new Map([["KEY", new Sensitive("k$(IP)")]]))).toEqual({
    args: ["run", "u-1"],
    env: { IP: "127.1.2.3", UID: "u-1", WHERE: "http://127.1.2.3/$(LATER)", LATER: "x", EMPTY: "", KEY: "k$(IP)" },
  });
});
