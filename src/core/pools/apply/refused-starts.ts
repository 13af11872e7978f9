/**
 * Browsers whose pods the API server does not create: a quota, Pod Security, an admission rule or a webhook refuses
 * them, or the server fails (FILL-RATE-9).
 *
 *   created ◄──┐
 *   refused ───┴─ tried again after 1 s, doubled each time ──► refused …
 *
 * What it says shows in status and Events: a refusal at once; an error that may pass, when it lasts for a second; no
 * answer at all, when there is none again. In the memory of the leader: a new one tries once.
 */

import { isTransient, KubeError } from "../../../platform/kube/kube-error.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { failedStartBackOffMs } from "../../model/pools/fill-pacing.ts";

/** `nextMs`: when the next try is due, `shownFromMs`: since when users are told; ms of a clock that is never set. */
type RefusedStart = {
  message: string;
  /** Tries in a row. */
  count: number;
  sinceMs: number;
  nextMs: number;
  shownFromMs: number;
  /** Whether the pod may have been created in spite of the error. */
  mayExist: boolean;
};

export type RefusedStarts = {
  /**
   * The API server did not create the pod. `isAsked`: whether it was asked to; else it refused the Secret of the
   * agent's key.
   */
  note(pool: BrowserPool, pod: { podName: string; isAsked: boolean }, error: KubeError): RefusedStart;
  created(poolUid: string): void;
  /** With another spec the next try is due at once. */
  of(pool: BrowserPool): RefusedStart | undefined;
  forget(poolUid: string): void;
};

/** For so long an answer of the API server that may pass is not told to users, ms. */
const passingMs = 1000;

/** Pods that are asked for in one round fail at about the same time; a next try is due later than this, ms. */
const atOnceMs = 100;

/** Longest text, characters: it goes into conditions, Events and answers. */
const maxMessage = 900;

/** A webhook is called before anything is stored. */
const isOfWebhook = ({ message }: KubeError): boolean => message.includes("failed calling webhook");

/** Whether the pod may have been created in spite of this error. */
export const mayBeCreated = (error: unknown): boolean =>
  isTransient(error) && error instanceof KubeError && error.status !== 429 && !isOfWebhook(error);

/** The same text for each try: each has another pod's name. */
const textOf = ({ message }: KubeError, podName: string): string =>
  message
    .replace(/^(pods|secrets) "[^"]*" is forbidden: /, "")
    .replaceAll(podName, "POD")
    .slice(0, maxMessage);

const shownFromMs = (error: KubeError, { count, sinceMs, nowMs }: Record<"count" | "sinceMs" | "nowMs", number>) => {
  if (!isTransient(error)) return nowMs;
  if (error.status !== 0) return sinceMs + passingMs;
  return count > 1 ? nowMs : Number.POSITIVE_INFINITY;
};

/** `monotonicMs`: ms of a clock that is never set. */
export const createRefusedStarts = (monotonicMs: () => number): RefusedStarts => {
  const byPool = new Map<string, RefusedStart & { generation: number | undefined }>();
  return {
    note({ metadata: { uid, generation } }, { podName, isAsked }, error) {
      const nowMs = monotonicMs();
      const known = byPool.get(uid);
      // Of several that were asked for at once.
      if (known && known.generation === generation && known.nextMs - nowMs > atOnceMs) return known;
      const before = known?.generation === generation ? known : undefined;
      const count = (before?.count ?? 0) + 1;
      const sinceMs = before?.sinceMs ?? nowMs;
      const refused = {
        ...{ message: textOf(error, podName), count, sinceMs, generation },
        nextMs: nowMs + failedStartBackOffMs(count),
        shownFromMs: shownFromMs(error, { count, sinceMs, nowMs }),
        mayExist: isAsked && mayBeCreated(error),
      };
      byPool.set(uid, refused);
      return refused;
    },
    created: (uid) => void byPool.delete(uid),
    of({ metadata: { uid, generation } }) {
      const known = byPool.get(uid);
      if (!known || known.generation === generation) return known;
      return { ...known, count: 0, nextMs: 0, shownFromMs: Number.POSITIVE_INFINITY };
    },
    forget: (uid) => void byPool.delete(uid),
  };
};
