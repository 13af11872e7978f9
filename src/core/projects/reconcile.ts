import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { RecordEvent } from "../../platform/kube/event-recorder.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import { namespaces, type ResourceTypes, typeMeta } from "../../platform/kube/resource-type.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import type { ProjectGate } from "../reconcile/start-gate.ts";
import { fieldManager, whyLeftAlone } from "./adoption.ts";
import { countsOwnKinds, type ProjectObject, type ProjectObjects } from "./project-objects.ts";
import { type PullSecrets, pullSecretSteps, type Step } from "./pull-secrets.ts";

export type ReconcileProjectDeps = {
  kube: Pick<Kube, "apply" | "get" | "list" | "delete">;
  projects: Pick<Reflector<Namespace>, "get">;
  types: ResourceTypes;
  wanted: ProjectObjects;
  pullSecrets?: PullSecrets | undefined;
  /** Quotas on objects of our own kinds are applied from then on, by `performance.now()`. */
  quotasFromMs: number;
  gate: ProjectGate;
  record: RecordEvent;
  lead: Pick<Lead, "check">;
  log: Logger;
};

/**
 * The operator applies all objects again after this time, ms: it does not watch them, so it would not notice a change
 * or deletion.
 */
const repeatMs = 10 * 60_000;

/**
 * After this time the operator looks again whether the others' pods have left a namespace, ms. A label is seen at once.
 */
const lookAgainMs = 30_000;

/** Longest text about failures, characters: it goes into conditions and Events. */
const maxWhy = 900;

const nameOf = ({ kind, metadata }: ProjectObject): string => `${kind} ${metadata.name}`;

const applyObject = async (object: ProjectObject, namespace: string, { kube, types }: ReconcileProjectDeps) => {
  const type = await types.of(object);
  if (!type.namespaced) throw new Error(`${object.kind} lives in no namespace, so a project can't have it`);
  await kube.apply(type, { ...object, metadata: { ...object.metadata, namespace } }, { fieldManager });
};

const applyLabels = async (name: string, { kube, wanted }: ReconcileProjectDeps): Promise<void> => {
  const { namespaceLabels: labels } = wanted;
  if (Object.keys(labels).length > 0) await kube.apply(namespaces, { metadata: { name, labels } }, { fieldManager });
};

/** Applies the labels, these objects and the pull secrets, also after a failure; returns the failures as text. */
const applyAll = async (
  namespace: Namespace,
  objects: ProjectObject[],
  deps: ReconcileProjectDeps,
): Promise<string[]> => {
  const { name } = namespace.metadata;
  const steps: Step[] = [
    [`labels of Namespace ${name}`, () => applyLabels(name, deps)],
    ...objects.map((object): Step => [nameOf(object), () => applyObject(object, name, deps)]),
    ...pullSecretSteps(namespace, deps),
  ];
  const failures: string[] = [];
  for (const [what, apply] of steps) {
    deps.lead.check();
    await apply().catch((error: unknown) => {
      failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
  return failures;
};

/** Records a warning about a namespace in the namespace itself: users look there. */
const warn = (namespace: Namespace, { reason, note }: { reason: string; note: string }, record: RecordEvent): void => {
  const metadata = { ...namespace.metadata, namespace: namespace.metadata.name };
  record({ regarding: { ...namespace, ...typeMeta(namespaces), metadata }, type: "Warning", reason, note });
};

/**
 * One round for one project; `name`: of its namespace. Safe to repeat. When all is applied, but quotas that come later,
 * it allows browsers in the namespace; when something fails, it allows none and throws. A namespace that must be left
 * alone is not touched.
 */
export const reconcileProject = async (name: string, deps: ReconcileProjectDeps): Promise<Requeue | undefined> => {
  const { projects, gate, record, log } = deps;
  const namespace = projects.get({ name });
  if (!namespace || namespace.metadata.deletionTimestamp) return undefined;
  const isOpen = gate.waitsFor(name) === undefined;
  const whyNot = isOpen ? undefined : await whyLeftAlone(namespace, deps);
  if (whyNot !== undefined) {
    if (gate.waitsFor(name) !== whyNot) warn(namespace, { reason: "ProjectNotAdopted", note: whyNot }, record);
    gate.close(name, whyNot);
    return { requeueAfterMs: lookAgainMs };
  }
  const { objects } = deps.wanted;
  const untilQuotasMs = deps.quotasFromMs - performance.now();
  const present = untilQuotasMs > 0 ? objects.filter((object) => !countsOwnKinds(object)) : objects;
  const failures = await applyAll(namespace, present, deps);
  // What is no project any more was closed meanwhile, and stays so.
  const now = projects.get({ name });
  if (!now || now.metadata.deletionTimestamp) return undefined;
  if (failures.length === 0) {
    if (!isOpen) log.info({ namespace: name }, "the project's objects are in place");
    gate.open(name);
    return { requeueAfterMs: present.length < objects.length ? untilQuotasMs : repeatMs };
  }
  const why = failures.join("; ").slice(0, maxWhy);
  gate.close(name, `its project's objects can't be applied: ${why}`);
  warn(namespace, { reason: "ProjectObjectsFailed", note: why }, record);
  throw new Error(why);
};
