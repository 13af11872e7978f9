/**
 * A reflector keeps a copy of all objects of one kind that match a selection.
 *
 *   list ──► watch ──► (stream ends) ──► watch from the last version
 *    ▲         │
 *    │         └── any failure: retry after a back-off, from the last version
 *    └──────────── 410 Expired: the version is too old, so list again
 *
 * Rules: only `stop` ends a reflector, a failure never does. A list replaces the copy, so objects that are missing from
 * it are reported as DELETED. An older version never replaces a newer one, nor brings back what is gone, so `put` with
 * the answer to an own write is safe. An object that was made anew under its name is reported as DELETED and ADDED.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../base/log.ts";
import { awaitWith } from "../base/retry.ts";
import type { Kube } from "./client.ts";
import { hasReason } from "./kube-error.ts";
import type { Selection } from "./list-pages.ts";
import { type KubeObject, keyOf, type ObjectMeta, type Ref } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";

export type Change = "ADDED" | "MODIFIED" | "DELETED";

export type Reflector<T extends KubeObject> = {
  get(ref: Ref): T | undefined;
  list(): T[];
  /** Puts the answer to an own write into the copy before the watch shows it. */
  put(object: T): void;
  /** Resolves when the first list is in the copy; rejects if `signal` is aborted first. */
  synced(signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

type ReflectorOptions<T extends KubeObject> = Selection & {
  kube: Kube;
  type: ResourceType<T>;
  /** What the copy keeps of an object; all by default. `onChange` gets the whole. */
  keep?: (object: T) => T;
  /** Called after the copy has changed. It must only enqueue keys; an error that it throws is logged and ignored. */
  onChange: (object: T, change: Change) => void;
  log: Logger;
};

const firstRetryMs = 200;
const lastRetryMs = 5000;

const isOlder = (a: KubeObject, b: KubeObject): boolean =>
  Number(a.metadata.resourceVersion) < Number(b.metadata.resourceVersion);

/**
 * Of so many objects that are gone it is remembered since which version: answers to own writes come late by a moment.
 */
const maxGone = 1000;

/** Starts a list and a watch, which retry for ever until `stop`. Reads before `synced` find an incomplete copy. */
export const startReflector = <T extends KubeObject>(options: ReflectorOptions<T>): Reflector<T> => {
  const { kube, type, keep = (object) => object, onChange, log, ...selection } = options;
  const objects = new Map<string, T>();
  const stopping = new AbortController();
  const firstList = Promise.withResolvers<void>();
  firstList.promise.catch(() => undefined);

  const report = (object: T, change: Change): void => {
    try {
      onChange(object, change);
    } catch (err) {
      log.error({ err, kind: type.kind, object: keyOf(object.metadata) }, "a watch handler threw");
    }
  };
  /** Uid → the version since which the object is gone, or does not match the selection. */
  const gone = new Map<string, number>();
  const forget = (object: T, sinceVersion: string): void => {
    objects.delete(keyOf(object.metadata));
    gone.delete(object.metadata.uid);
    gone.set(object.metadata.uid, Number(sinceVersion));
    const [oldest] = gone.keys();
    if (gone.size > maxGone && oldest !== undefined) gone.delete(oldest);
    report(object, "DELETED");
  };
  const isLate = (object: T, known: T | undefined): boolean => {
    if (Number(object.metadata.resourceVersion) <= (gone.get(object.metadata.uid) ?? 0)) return true;
    if (!known) return false;
    return known.metadata.uid === object.metadata.uid ? !isOlder(known, object) : isOlder(object, known);
  };
  const put = (object: T): void => {
    const key = keyOf(object.metadata);
    const before = objects.get(key);
    if (isLate(object, before)) return;
    const isAnew = before !== undefined && before.metadata.uid !== object.metadata.uid;
    if (isAnew) forget(before, before.metadata.resourceVersion);
    const known = isAnew ? undefined : before;
    // managedFields are half of an object's size, and nothing here reads them. `delete` would leave a dictionary, of
    // twice the size.
    const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & { managedFields?: unknown };
    const slim = { ...object, metadata };
    objects.set(key, keep(slim));
    report(slim, known ? "MODIFIED" : "ADDED");
  };
  /** `sinceVersion`: of its deletion. */
  const remove = (object: T, sinceVersion: string): void => {
    const known = objects.get(keyOf(object.metadata));
    if (!known || (known.metadata.uid !== object.metadata.uid && isOlder(object, known))) return;
    forget(object, sinceVersion);
  };
  const relist = async (): Promise<string> => {
    const { items, resourceVersion } = await kube.list(type, selection);
    const listed = new Set(items.map((item) => keyOf(item.metadata)));
    for (const object of [...objects.values()]) {
      // An object that was put after the list was made is newer than the list and stays.
      const isNewer = Number(object.metadata.resourceVersion) > Number(resourceVersion);
      if (!listed.has(keyOf(object.metadata)) && !isNewer) remove(object, resourceVersion);
    }
    for (const item of items) put(item);
    firstList.resolve();
    return resourceVersion;
  };
  const follow = async (from: string, onProgress: (version: string) => void): Promise<void> => {
    const stream = kube.watch(type, { ...selection, resourceVersion: from }, stopping.signal);
    for await (const { type: change, object } of stream) {
      if (change === "DELETED") remove(object, object.metadata.resourceVersion);
      else if (change !== "BOOKMARK") put(object);
      onProgress(object.metadata.resourceVersion);
    }
  };

  let version: string | undefined;
  let retryMs = firstRetryMs;
  const step = async (): Promise<void> => {
    version ??= await relist();
    await follow(version, (newer) => {
      version = newer;
      retryMs = firstRetryMs;
    });
  };
  const recover = async (err: unknown): Promise<void> => {
    if (hasReason(err, "Expired") || hasReason(err, "Gone")) version = undefined;
    const reason = err instanceof Error ? err.message : String(err);
    log.warn({ kind: type.kind, reason, retryMs }, "watch failed; trying again");
    await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    retryMs = Math.min(retryMs * 2, lastRetryMs);
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      await step().catch((err: unknown) => (stopping.signal.aborted ? undefined : recover(err)));
  };
  const running = run();

  return {
    get: (ref) => objects.get(keyOf(ref)),
    list: () => [...objects.values()],
    put,
    synced: (signal) => awaitWith(firstList.promise, signal),
    async stop() {
      stopping.abort();
      firstList.reject(new Error(`the ${type.kind} reflector was stopped`));
      await running;
    },
  };
};
