import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import type { Namespace } from "../../kube/objects.ts";
import { createLogger } from "../../log.ts";
import { createProjectGate } from "../start-gate.ts";
import type { ProjectObjects } from "./project-objects.ts";
import { type ReconcileProjectDeps, reconcileProject } from "./reconcile.ts";

const name = "ns";
const namespace: Namespace = { metadata: storedMeta(name) };
const labels: ProjectObjects = { namespaceLabels: { audited: "yes" }, objects: [] };

/** A round for an open project. `meanwhile`: what happens while its labels are applied. */
const round = async (meanwhile: (projects: Map<string, Namespace>) => void) => {
  const gate = createProjectGate();
  gate.open(name);
  const projects = new Map([[name, namespace]]);
  const kube = {
    async apply() {
      meanwhile(projects);
      // As the controller does when its watch tells it so.
      if (!projects.has(name)) gate.close(name);
    },
  };
  const deps = {
    kube: kube as unknown as ReconcileProjectDeps["kube"],
    projects: { get: (ref: { name: string }) => projects.get(ref.name) },
    types: {} as ReconcileProjectDeps["types"],
    wanted: labels,
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
