/**
 * Keeps an installation's objects (network policies, role bindings, quotas…) in the namespace of every project, and
 * copies of the pull secrets of browsers.
 *
 *   a namespace becomes a project, or changes ──► may it? ──► apply all objects ──► browsers may be started there
 *                                  ▲                 │               └─ one fails ──► Event, retry after a back-off
 *                                  │                 └─ others have pods there ──► Event, look again after half a minute
 *                                  └── every ten minutes
 *
 * Quotas on objects of our own kinds come a minute and a half after this replica began to lead. A cluster looks for new
 * kinds every half a minute; a quota that was made before it knew them is counted minutes later, and refuses all that
 * it would count until then.
 */

import type { Logger } from "../../platform/base/log.ts";
import { projectLabel } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { createEventRecorder } from "../../platform/kube/event-recorder.ts";
import { type Lead, whenLeadEnds } from "../../platform/kube/leader-election.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { createResourceTypes, namespaces } from "../../platform/kube/resource-type.ts";
import { startWorkQueue, type WorkMeter } from "../../platform/kube/work-queue.ts";
import { createSpecPredicate } from "../reconcile/predicates.ts";
import type { ProjectGate } from "../reconcile/start-gate.ts";
import type { ProjectObjects } from "./project-objects.ts";
import type { PullSecrets } from "./pull-secrets.ts";
import { reconcileProject } from "./reconcile.ts";

type ProjectControllerDeps = {
  kube: Kube;
  wanted: ProjectObjects;
  pullSecrets?: PullSecrets | undefined;
  gate: ProjectGate;
  meter?: WorkMeter | undefined;
  log: Logger;
};

/**
 * A cluster that has just learned our kinds counts them by then, ms: it looks every 30 s, and takes up to 30 s to read
 * what it has found.
 */
const kindsCountedMs = 90_000;

/** Projects that are reconciled at the same time; each takes one call for each object. */
const concurrency = 4;

/** Resolves when this replica no longer leads and the queue and the watch have stopped. */
export const runProjectController = async (deps: ProjectControllerDeps, lead: Lead): Promise<void> => {
  const { kube, gate, log } = deps;
  const quotasFromMs = performance.now() + kindsCountedMs;
  const predicate = createSpecPredicate();
  const projects = startReflector({
    kube,
    type: namespaces,
    labelSelector: projectLabel,
    log,
    onChange(namespace, change) {
      const { name } = namespace.metadata;
      if (change !== "DELETED") {
        if (predicate.specChanged(namespace)) queue.add(name);
        return;
      }
      predicate.forget(namespace);
      gate.close(name);
    },
  });
  const types = createResourceTypes(kube);
  const record = createEventRecorder(kube, "project", log);
  const queue = startWorkQueue({
    name: "project",
    concurrency,
    log,
    meter: deps.meter,
    async work(name) {
      await projects.synced(lead.signal);
      return reconcileProject(name, { ...deps, quotasFromMs, projects, types, record, lead });
    },
  });
  await whenLeadEnds(lead);
  await queue.stop();
  await projects.stop();
};
