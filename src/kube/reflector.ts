/**
 * A reflector keeps a copy of all objects of one kind that a selection names.
 *
 *   list ──► watch ──► (stream ends) ──► watch from the last version
 *    ▲         │
 *    │         └── any failure: again after a back-off, from the last version
 *    └──────────── 410 Expired: that version is too old, so a new list
 *
 * Rules: a failure never ends it, only `stop` does; a list replaces the copy, so what vanished in between is reported as
 * DELETED; an object is never replaced by an older version of itself, so `put` after a write of one's own is safe.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.ts";
import { awaitWith } from "./await-with.ts";
import type { Kube, Selection } from "./client.ts";
import { hasReason } from "./kube-error.ts";
import { type KubeObject, keyOf, type Ref } from "./objects.ts";
import type { ResourceType } from "./resource-type.ts";

export type Change = "ADDED" | "MODIFIED" | "DELETED";

export type Reflector<T extends KubeObject> = {
  get(ref: Ref): T | undefined;
  list(): T[];
  /** Takes in the answer of a write of one's own before the watch brings it. */
  put(object: T): void;
  /** Resolves when the first list is in the copy; rejects when `signal` is aborted before. */
  synced(signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

export type ReflectorOptions<T extends KubeObject> = Selection & {
  kube: Kube;
  type: ResourceType<T>;
  /** Called after the copy has changed. It may only note what to look at; a throw is logged and swallowed. */
  onChange: (object: T, change: Change) => void;
  log: Logger;
};

const firstRetryMs = 200;
const lastRetryMs = 5000;

const isOlder = (a: KubeObject, b: KubeObject): boolean =>
  Number(a.metadata.resourceVersion) < Number(b.metadata.resourceVersion);

/** Starts a list and a watch, which retry for ever until `stop`. Reads before `synced` find an incomplete copy. */
export const startReflector = <T extends KubeObject>(options: ReflectorOptions<T>): Reflector<T> => {
  const { kube, type, onChange, log, ...selection } = options;
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
  const put = (object: T): void => {
    const key = keyOf(object.metadata);
    const known = objects.get(key);
    if (known && known.metadata.uid === object.metadata.uid && !isOlder(known, object)) return;
    // Who wrote which field last is half of an object, and nobody reads it here.
    delete (object.metadata as { managedFields?: unknown }).managedFields;
    objects.set(key, object);
    report(object, known ? "MODIFIED" : "ADDED");
  };
  const remove = (object: T): void => {
    const known = objects.get(keyOf(object.metadata));
    if (!known || (known.metadata.uid !== object.metadata.uid && isOlder(object, known))) return;
    objects.delete(keyOf(object.metadata));
    report(object, "DELETED");
  };
  const relist = async (): Promise<string> => {
    const { items, resourceVersion } = await kube.list(type, selection);
    const listed = new Set(items.map((item) => keyOf(item.metadata)));
    for (const object of [...objects.values()]) {
      // What was put after this list was made is younger than it and stays.
      const isNewer = Number(object.metadata.resourceVersion) > Number(resourceVersion);
      if (!listed.has(keyOf(object.metadata)) && !isNewer) remove(object);
    }
    for (const item of items) put(item);
    firstList.resolve();
    return resourceVersion;
  };
  const follow = async (from: string, onProgress: (version: string) => void): Promise<void> => {
    const stream = kube.watch(type, { ...selection, resourceVersion: from }, stopping.signal);
    for await (const { type: change, object } of stream) {
      if (change === "DELETED") remove(object);
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
