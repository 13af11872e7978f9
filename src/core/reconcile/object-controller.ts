/**
 * The controllers of kinds whose objects stand for themselves: they have a status, and some keep a thing elsewhere that
 * goes with them.
 *
 *   one round of an object
 *
 *   gone ──────────────► nothing
 *   being deleted ─────► `release` frees what it keeps ──► its finalizer goes
 *   else: `before` may end the round ──► finalizer ──► `statusOf`, written where it differs ──► `after`
 *
 * A round computes on cached objects and writes only what differs. So a few rounds too many cost almost nothing, and no
 * list of dependencies between single objects is needed that could be wrong.
 */
import { isDeepStrictEqual } from "node:util";
import { byAge } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import { type KubeObject, type NamespacedObject, refOf } from "../../platform/kube/objects.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import { type ResourceType, secrets } from "../../platform/kube/resource-type.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import { dropFinalizer, withFinalizer } from "./finalizers.ts";

/** The watches' copies of all objects of the kinds that have such a controller. */
export type ObjectCaches = { of<T extends NamespacedObject>(kind: ResourceType<T>): Reflector<T> };

/** What every round has. `now`: ms since the epoch. */
export type RoundDeps = { kube: Kube; caches: ObjectCaches; lead: Pick<Lead, "check">; now: () => number };

type WithStatus = NamespacedObject & { status?: object | undefined };

/** `Parts`: what the rounds need besides `RoundDeps`. */
export type ObjectController<T extends WithStatus, Parts = object> = {
  /** The label of its metrics. */
  name: string;
  kind: ResourceType<T>;
  /** The kinds whose objects a round reads: a change of one leads to rounds of this kind in its namespace. */
  // biome-ignore lint/suspicious/noExplicitAny: of kinds of every shape
  reads: readonly ResourceType<any>[];
  finalizer?: string;
  /** Frees what a deleted object keeps elsewhere. With a requeue there is more to free, and the object stays. */
  release?(object: T, deps: RoundDeps & Parts): Promise<Requeue | undefined>;
  /** Ends the round with what it returns, if that is not undefined. */
  before?(object: T, deps: RoundDeps & Parts): Promise<{ requeue?: Requeue } | undefined>;
  statusOf(object: T, deps: RoundDeps & Parts): NonNullable<T["status"]> | Promise<NonNullable<T["status"]>>;
  after?(object: T, deps: RoundDeps & Parts): Promise<void>;
};

/** The objects of a kind in a namespace that are not being deleted. */
export const liveIn = <T extends NamespacedObject>(
  namespace: string,
  kind: ResourceType<T>,
  { caches }: Pick<RoundDeps, "caches">,
): T[] =>
  caches
    .of(kind)
    .list()
    .filter(({ metadata }) => metadata.namespace === namespace && !metadata.deletionTimestamp);

/** Of all objects of its namespace with the same claim, the oldest holds it; it may be the object itself. */
export const holderOf = <T extends NamespacedObject>(
  object: T,
  { kind, claimOf }: { kind: ResourceType<T>; claimOf: (object: T) => string },
  deps: Pick<RoundDeps, "caches">,
): T => {
  const rivals = liveIn(object.metadata.namespace, kind, deps).filter((other) => claimOf(other) === claimOf(object));
  return rivals.sort(byAge)[0] ?? object;
};

/**
 * A `release` that deletes the Secret of an object. Its name is given: the operator may delete Secrets, not read or
 * list them.
 */
export const deleteSecret =
  (secretOf: (name: string) => string) =>
  async ({ metadata: { name, namespace } }: NamespacedObject, { kube }: RoundDeps): Promise<undefined> => {
    await kube.delete(secrets, { name: secretOf(name), namespace });
  };

const end = async <T extends WithStatus, Parts>(
  object: T,
  { kind, finalizer, release }: ObjectController<T, Parts>,
  deps: RoundDeps & Parts,
): Promise<Requeue | undefined> => {
  if (finalizer === undefined || !object.metadata.finalizers?.includes(finalizer)) return undefined;
  deps.lead.check();
  const requeue = await release?.(object, deps);
  if (!requeue) await dropFinalizer(kind, { object, finalizer }, deps.kube);
  return requeue;
};

const writeStatus = async <T extends WithStatus>(
  kind: ResourceType<T>,
  { object, status, cache }: { object: T; status: NonNullable<T["status"]>; cache: Pick<Reflector<T>, "put"> },
  { kube, lead }: RoundDeps,
): Promise<void> => {
  if (isDeepStrictEqual(object.status, status)) return;
  lead.check();
  cache.put((await kube.replace<KubeObject>(kind, { ...object, status }, { subresource: "status" })) as T);
};

/** One round for one object; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileObject = async <T extends WithStatus, Parts>(
  controller: ObjectController<T, Parts>,
  key: string,
  deps: RoundDeps & Parts,
): Promise<Requeue | undefined> => {
  const { kind, finalizer, before, statusOf, after } = controller;
  const cache = deps.caches.of(kind);
  const known = cache.get(refOf(key));
  if (!known) return undefined;
  if (known.metadata.deletionTimestamp) return end(known, controller, deps);
  const ended = await before?.(known, deps);
  if (ended) return ended.requeue;
  deps.lead.check();
  const object = finalizer === undefined ? known : await withFinalizer(kind, { object: known, finalizer }, deps.kube);
  cache.put(object);
  await writeStatus(kind, { object, status: await statusOf(object, deps), cache }, deps);
  await after?.(object, deps);
  return undefined;
};
