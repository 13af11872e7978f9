import { describe, expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import type { NewObject, Pod } from "../../../platform/kube/objects.ts";
import { buildPod, isMarked, markPatch, outdatedBy, type PodOwner, type PodSettings } from "./pod.ts";

const settings: PodSettings = { image: "browser:1", agentPublicKey: "key", template: undefined };
const built = (): NewObject<Pod> => buildPod(aPool() as PodOwner, { suffix: "abcdefgh" }, settings);

describe("a pod is outdated", () => {
  test("when it was made by other settings, and only then", () => {
    expect(outdatedBy(settings)(built())).toBe(false);
    expect(outdatedBy({ ...settings, image: "browser:2" })(built())).toBe(true);
    expect(outdatedBy({ ...settings, agentPublicKey: "other" })(built())).toBe(true);
  });

  test("not because admission has replaced its image by that of a mirror", () => {
    const pod = built();
    for (const container of pod.spec?.containers ?? []) container.image = "mirror.internal/browser:1";
    expect(outdatedBy(settings)(pod)).toBe(false);
  });

  test("when it does not say by what it was made", () => {
    const pod = built();
    delete pod.metadata.annotations?.["browserpool.dev/template-hash"];
    expect(outdatedBy(settings)(pod)).toBe(true);
  });
});

test("the agent is told of the time that its pod has to end", () => {
  const { spec } = built();
  const told = spec?.containers[0]?.env?.find(({ name }) => name === "BROWSERPOOL_AGENT_GRACE_SECONDS")?.value;
  expect(told).toBe(`${spec?.terminationGracePeriodSeconds}`);
});

test("a mark is read as it was written, and taken away whole", () => {
  const { metadata } = built();
  expect(isMarked({ metadata })).toBe(false);
  expect(isMarked({ metadata: { ...metadata, ...markPatch(true) } })).toBe(true);
  expect(markPatch(false)).toEqual({
    labels: { "browserpool.dev/leased": null },
    annotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict": null },
  });
});
