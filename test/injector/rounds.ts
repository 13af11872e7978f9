/**
 * Rounds of one object, as the work queue of its controller would have them, and what became of the object meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "../../src/platform/base/log.ts";
import type { Condition } from "../../src/platform/kinds/conditions.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { KubeObject, Ref } from "../../src/platform/kube/objects.ts";
import { type Reflector, startReflector } from "../../src/platform/kube/reflector.ts";
import type { ResourceType } from "../../src/platform/kube/resource-type.ts";
import type { Requeue } from "../../src/platform/kube/work-queue.ts";
import { type Ended, endOf } from "./injector.ts";

/** Longest wait for the watch, ms. */
const withinMs = 20_000;

/** Longest wait for a further round that was asked for, ms. */
const mostWaitMs = 50;

/** More rounds than any work takes. */
const mostRounds = 60;

type WithConditions = KubeObject & { status?: { conditions?: readonly Condition[] } };

/** The conditions of an object, without their times and texts. */
const conditionsText = (object: WithConditions | undefined): string =>
  (object?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`).join(", ");

/** Resolves when a copy shows what it must: a moment later, mostly, so it is looked at often. */
export const shown = async (isShown: () => boolean): Promise<void> => {
  const untilMs = performance.now() + withinMs;
  while (!isShown()) {
    if (performance.now() > untilMs) throw new Error(`the watch does not show it within ${withinMs / 1000} s`);
    await sleep(2);
  }
};

export type Watched<T extends KubeObject> = Reflector<T> & {
  /** All objects that there ever were, as they were first. */
  ever(): readonly T[];
  /** What `conditionsText` says of each version that the object had. */
  history(uid: string): readonly string[];
  /** Resolves when the copy shows what the API server has: with the object's version, or "gone". */
  version(ref: Ref): Promise<string>;
};

/** Whether a copy of an object is as new as what the API server has. */
export const isAsNew = (copy: KubeObject | undefined, there: KubeObject | undefined): boolean =>
  there === undefined
    ? copy === undefined
    : copy?.metadata.uid === there.metadata.uid &&
      Number(copy.metadata.resourceVersion) >= Number(there.metadata.resourceVersion);

/** Watches the objects of a kind, in one namespace if it has them in namespaces. The caller must call `stop`. */
export const watchObjects = <T extends KubeObject>(
  kube: Kube,
  type: ResourceType<T>,
  namespace?: string,
): Watched<T> => {
  const first = new Map<string, T>();
  const histories = new Map<string, string[]>();
  const copy = startReflector({
    kube,
    type,
    ...(namespace !== undefined && { namespace }),
    log: createLogger("silent", "test"),
    onChange(object, change) {
      const { uid } = object.metadata;
      if (change === "DELETED") return;
      if (!first.has(uid)) first.set(uid, object);
      histories.set(uid, [...(histories.get(uid) ?? []), conditionsText(object)]);
    },
  });
  return {
    ...copy,
    ever: () => [...first.values()],
    history: (uid) => histories.get(uid) ?? [],
    async version(ref) {
      const there = await kube.get(type, ref);
      await shown(() => isAsNew(copy.get(ref), there));
      return copy.get(ref)?.metadata.resourceVersion ?? "gone";
    },
  };
};

type Rounds = {
  /** One round, without faults. */
  round(): Promise<Requeue | undefined>;
  /** What the watch shows of all that makes the object's key come back. */
  version(): Promise<string>;
  /** A round that wants the next one after this time, ms, or later asks for none now. */
  restMs?: number;
  /** So much time passes until the next round, ms. */
  pass?(ms: number): void;
};

/**
 * Has rounds for as long as there is a reason for one: the last has failed, or asks for another, or the object has
 * changed since. So a failure that a round keeps to itself is never mended. `before`: the version before the round that
 * has ended so.
 */
export const untilRest = async (
  { round, version, restMs = 5000, pass = () => undefined }: Rounds,
  { before, ended }: { before: string; ended: Ended<Requeue | undefined> },
): Promise<void> => {
  let [seen, last] = [before, ended];
  for (let rounds = 0; rounds < mostRounds; rounds++) {
    const now = await version();
    const againMs = "error" in last ? 0 : (last.result?.requeueAfterMs ?? Number.POSITIVE_INFINITY);
    if (againMs >= restMs && now === seen) return;
    pass(Math.min(againMs, restMs));
    // Redis' clock is real.
    await sleep(Math.min(againMs, mostWaitMs));
    seen = now;
    last = await endOf(round());
  }
  throw new Error(`no rest after ${mostRounds} rounds; the last one: ${JSON.stringify(last)}`);
};
