import { runProjectController } from "../../src/controllers/project/controller.ts";
import { checkProjectObjects } from "../../src/controllers/project/project-objects.ts";
import { createProjectGate, type ProjectGate } from "../../src/controllers/start-gate.ts";
import type { Kube } from "../../src/kube/client.ts";
import { createLogger } from "../../src/log.ts";
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
