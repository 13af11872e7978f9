/**
 * Runs controllers of objects while this replica leads.
 *
 *   an object changes ──► enqueue it, and a moment later the objects of its namespace whose kinds read it ──► their rounds
 */
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { type Lead, whenLeadEnds } from "../../platform/kube/leader-election.ts";
import { keyOf, type NamespacedObject } from "../../platform/kube/objects.ts";
import { type Reflector, startReflector } from "../../platform/kube/reflector.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";
import { startWorkQueue, type WorkMeter, type WorkQueue } from "../../platform/kube/work-queue.ts";
import { type ObjectCaches, type ObjectController, type RoundDeps, reconcileObject } from "./object-controller.ts";
import { createSpecPredicate } from "./predicates.ts";

/** Objects of one kind that are reconciled at the same time. */
const concurrency = 4;

/** Changes of other objects are batched for this time, ms. */
const batchMs = 100;

type RunDeps<Parts> = {
  // biome-ignore lint/suspicious/noExplicitAny: of kinds of every shape
  controllers: readonly ObjectController<any, Parts>[];
  parts: Parts;
  kube: Kube;
  meter?: WorkMeter | undefined;
  /** Takes what tells how many objects there are, by plural and namespace, until its result is called. */
  countObjects?: ((count: () => ReadonlyMap<string, ReadonlyMap<string, number>>) => () => void) | undefined;
  log: Logger;
};

/** How many of them each namespace has. */
const byNamespace = (objects: NamespacedObject[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { metadata } of objects) counts.set(metadata.namespace, (counts.get(metadata.namespace) ?? 0) + 1);
  return counts;
};

/** One controller at work. */
type Running = { cache: Reflector<NamespacedObject>; queue: WorkQueue };

/** Resolves when this replica no longer leads and all queues and watches have stopped. */
export const runObjectControllers = async <Parts extends object>(
  { controllers, parts, kube, meter, countObjects, log }: RunDeps<Parts>,
  lead: Lead,
): Promise<void> => {
  const predicate = createSpecPredicate();
  const running = new Map<string, Running>();
  const of = ({ kind }: { kind: string }): Running => {
    const found = running.get(kind);
    if (!found) throw new Error(`no controller has the kind ${kind}`);
    return found;
  };
  const enqueueReaders = (type: ResourceType<NamespacedObject>, namespace: string): void => {
    for (const { kind, reads } of controllers) {
      if (!reads.some((read) => read.kind === type.kind)) continue;
      const { cache, queue } = of(kind);
      for (const { metadata } of cache.list())
        if (metadata.namespace === namespace) queue.addBatched(keyOf(metadata), batchMs);
    }
  };
  const watch = (type: ResourceType<NamespacedObject>): Reflector<NamespacedObject> =>
    startReflector({
      kube,
      type,
      log,
      onChange: (object, change) => {
        if (change === "DELETED") predicate.forget(object);
        else of(type).queue.add(keyOf(object.metadata));
        if (change !== "DELETED" && !predicate.specChanged(object)) return;
        enqueueReaders(type, object.metadata.namespace);
      },
    });
  // A cache has objects of the type that its kind says.
  const caches: ObjectCaches = { of: (kind) => of(kind).cache as never };
  const deps: RoundDeps & Parts = { ...parts, kube, caches, lead, now: Date.now };
  const synced = (): Promise<unknown> =>
    Promise.all([...running.values()].map(({ cache }) => cache.synced(lead.signal)));
  for (const controller of controllers) {
    const { name, kind } = controller;
    const work = async (key: string) => {
      await synced();
      return reconcileObject(controller, key, deps);
    };
    const queue = startWorkQueue({ name, concurrency, log, meter, work });
    running.set(kind.kind, { queue, cache: watch(kind) });
  }
  const stopCounting = countObjects?.(
    () => new Map(controllers.map(({ kind }) => [kind.plural, byNamespace(of(kind).cache.list())])),
  );
  await whenLeadEnds(lead);
  stopCounting?.();
  await Promise.all([...running.values()].map(({ queue }) => queue.stop()));
  await Promise.all([...running.values()].map(({ cache }) => cache.stop()));
};
