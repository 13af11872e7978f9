import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import { createLogger } from "../../platform/base/log.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { createProjectGate } from "../reconcile/start-gate.ts";
import type { ProjectObjects } from "./project-objects.ts";
import { type ReconcileProjectDeps, reconcileProject } from "./reconcile.ts";

const name = "ns";
const namespace: Namespace = { metadata: storedMeta(name) };
const labels: ProjectObjects = { namespaceLabels: { audited: "yes" }, objects: [] };

/** A round for an open project. `meanwhile`: what happens while an object is applied. */
const round = async (
  meanwhile: (projects: Map<string, Namespace>, applied: string) => void,
  { wanted = labels, quotasFromMs = 0 } = {},
) => {
  const gate = createProjectGate();
  gate.open(name);
  const projects = new Map([[name, namespace]]);
  const kube = {
    async apply(_: unknown, { metadata }: { metadata: { name: string } }) {
      meanwhile(projects, metadata.name);
      // As the controller does when its watch tells it so.
      if (!projects.has(name)) gate.close(name);
    },
  };
  const deps = {
    kube: kube as unknown as ReconcileProjectDeps["kube"],
    projects: { get: (ref: { name: string }) => projects.get(ref.name) },
    types: { of: async () => ({ namespaced: true }) } as unknown as ReconcileProjectDeps["types"],
    wanted,
    quotasFromMs,
    gate,
    record: () => undefined,
    lead: { check: () => undefined },
    log: createLogger("silent", "test"),
  };
  return { requeue: await reconcileProject(name, deps), waitsFor: gate.waitsFor(name) };
};

test("a project whose objects are applied is open, and is looked at again", async () => {
  expect(await round(() => undefined)).toEqual({ requeue: { requeueAfterMs: 600_000 }, waitsFor: undefined });
});

test("a round opens no namespace that was a project when it began, and is none any more", async () => {
  const { requeue, waitsFor } = await round((projects) => projects.delete(name));
  expect([requeue, waitsFor]).toEqual([undefined, expect.stringContaining("is no project yet")]);
});

// LIMIT-36
test("quotas on our own kinds come when the cluster knows the kinds, all else at once", async () => {
  const quota = (object: string, key: string) => ({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: object },
    spec: { hard: { [key]: "1" } },
  });
  const objects = [quota("own", "count/vaults.browserpool.dev"), quota("pods", "count/pods")];
  const wanted = { namespaceLabels: {}, objects };
  const applied: string[] = [];
  const note = (_: unknown, object: string) => void applied.push(object);
  const early = await round(note, { wanted, quotasFromMs: performance.now() + 60_000 });
  expect(applied.splice(0)).toEqual(["pods"]);
  expect(early.waitsFor).toBeUndefined();
  expect(early.requeue?.requeueAfterMs).toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000);
  const late = await round(note, { wanted });
  expect(applied).toEqual(["own", "pods"]);
  expect(late.requeue).toEqual({ requeueAfterMs: 600_000 });
});
