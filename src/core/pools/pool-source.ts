/**
 * The objects that the loop keeps browsers for. The loop knows only pools: a view presents each object of another kind
 * as a pool (on-demand/browser-as-pool.ts) and writes the result into that object's own status.
 */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../platform/base/log.ts";
import type { Condition } from "../../platform/kinds/conditions.ts";
import { drainFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import { type Change, type Reflector, startReflector } from "../../platform/kube/reflector.ts";
import { type ResourceType, typeMeta } from "../../platform/kube/resource-type.ts";
import { type BrowserPool, type BrowserPoolStatus, browserPoolKind } from "../model/pools/browser-pool.ts";
import { dropFinalizer, withFinalizer } from "../reconcile/finalizers.ts";
import type { Observed } from "./observe/observed.ts";

export type Statused = NamespacedObject & { status?: { conditions: Condition[] } };

/** Presents the objects of one kind as pools. */
export type PoolView<T extends Statused> = {
  type: ResourceType<T>;
  /** Keeps `metadata`; the same object always gives an equal pool. */
  toPool(object: T): BrowserPool;
  /** The object with a round's result in its status. */
  withStatus(object: T, status: BrowserPoolStatus, observed: Observed): T;
};

export type PoolSource<T = unknown> = Pick<Reflector<BrowserPool>, "get" | "list" | "synced" | "stop"> & {
  /** The object behind a pool. Throws for a pool that this source did not return. */
  objectOf(pool: BrowserPool): T;
  /** `apiVersion` and `kind` of the objects behind the pools, for owner references and events. */
  meta: { apiVersion: string; kind: string };
  /** Adds the finalizer if it is missing. Must precede the first pod. */
  ensureFinalizer(pool: BrowserPool): Promise<void>;
  dropFinalizer(pool: BrowserPool): Promise<void>;
  /** Writes the status if it differs. Returns the conditions before and after, or undefined when it wrote nothing. */
  writeStatus(observed: Observed, status: BrowserPoolStatus, check: () => void): Promise<StatusChange | undefined>;
};

export type StatusChange = { before: Condition[]; after: Condition[] };

type PoolSourceOptions<T extends Statused> = {
  kube: Kube;
  view: PoolView<T>;
  onChange: (pool: BrowserPool, change: Change) => void;
  log: Logger;
};

/** How the loop reads and writes pools themselves. */
export const poolView: PoolView<BrowserPool> = {
  type: browserPoolKind,
  toPool: (pool) => pool,
  withStatus: (pool, status) => ({ ...pool, status }),
};

/**
 * Starts a watch of one kind. `objectOf` and all that writes take only pools that came from this watch. The caller must
 * call `stop`.
 */
export const startPoolSource = <T extends Statused>({
  kube,
  view,
  onChange,
  log,
}: PoolSourceOptions<T>): PoolSource<T> => {
  const views = new WeakMap<T, BrowserPool>();
  const objects = new WeakMap<BrowserPool, T>();
  const asPool = (object: T): BrowserPool => {
    const known = views.get(object);
    if (known) return known;
    const pool = view.toPool(object);
    views.set(object, pool);
    objects.set(pool, object);
    return pool;
  };
  const objectOf = (pool: BrowserPool): T => {
    const object = objects.get(pool);
    if (!object) throw new Error(`pool ${pool.metadata.name} does not come from this source`);
    return object;
  };
  const reflector = startReflector<T>({
    kube,
    type: view.type,
    onChange: (object, change) => onChange(asPool(object), change),
    log,
  });
  return {
    meta: typeMeta(view.type),
    objectOf,
    get(ref) {
      const object = reflector.get(ref);
      return object && asPool(object);
    },
    list: () => reflector.list().map(asPool),
    synced: reflector.synced,
    stop: reflector.stop,
    async ensureFinalizer(pool) {
      const object = objectOf(pool);
      reflector.put(await withFinalizer(view.type, { object, finalizer: drainFinalizer }, kube));
    },
    async dropFinalizer(pool) {
      await dropFinalizer(view.type, { object: objectOf(pool), finalizer: drainFinalizer }, kube);
    },
    async writeStatus(observed, status, check) {
      const object = objectOf(observed.pool);
      const next = view.withStatus(object, status, observed);
      if (isDeepStrictEqual(object.status, next.status)) return undefined;
      check();
      reflector.put(await kube.replace(view.type, next, { subresource: "status" }));
      return { before: object.status?.conditions ?? [], after: next.status?.conditions ?? [] };
    },
  };
};
