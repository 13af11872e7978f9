import { runProjectController } from "../../src/core/projects/controller.ts";
import { checkProjectObjects } from "../../src/core/projects/project-objects.ts";
import { createProjectGate, type ProjectGate } from "../../src/core/reconcile/start-gate.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { eventually } from "./eventually.ts";

export type RunningProjects = { gate: ProjectGate; [Symbol.asyncDispose](): Promise<void> };

/** The controller of projects as the leader runs it. `documents`: those of the file with the projects' objects. */
export const runProjects = (kube: Kube, documents: unknown[]): RunningProjects => {
  const gate = createProjectGate();
  const lead = new AbortController();
  const wanted = checkProjectObjects(documents, "objects.yaml");
  const running = runProjectController(
    { kube, wanted, gate, log: createLogger("silent", "test") },
    { signal: lead.signal, check: () => lead.signal.throwIfAborted() },
  );
  return {
    gate,
    async [Symbol.asyncDispose]() {
      lead.abort();
      await running;
    },
  };
};

/** Resolves when browsers may be started in the namespace. */
export const opened = ({ gate }: RunningProjects, namespace: string) =>
  eventually("the gate is open", () => gate.waitsFor(namespace) === undefined);
