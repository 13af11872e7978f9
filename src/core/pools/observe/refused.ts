import { keyOf } from "../../../platform/kube/objects.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { Refusal } from "./observed.ts";

/**
 * The objects of a loop that are refused because of others, which get another round when there may be room for them.
 */
type Refused = {
  /** To be called in each round of an object; returns `refusal`. */
  note(pool: BrowserPool, refusal: Refusal | undefined): Refusal | undefined;
  forget(uid: string): void;
  /** Enqueues the objects of each namespace that were refused first. */
  retry(): void;
};

/**
 * Objects of a namespace that are tried at once. When one is accepted, the next are tried: so all free room is used,
 * and a namespace with very many refused objects costs no more rounds than there is room, but for the usual one of each
 * minute.
 */
const triedAtOnce = 3;

/** The reasons that may be over when other objects go or get smaller. */
const untilOthersGo: ReadonlySet<Refusal["reason"]> = new Set(["NameTaken", "PooledSessionsLimit", "SessionsLimit"]);

/** `enqueue`: gets the key of an object. */
export const createRefused = (enqueue: (key: string) => void): Refused => {
  /** Namespace → uid → key, in the order of refusals. */
  const byNamespace = new Map<string, Map<string, string>>();
  const retry = (): void => {
    for (const keys of byNamespace.values()) for (const key of [...keys.values()].slice(0, triedAtOnce)) enqueue(key);
  };
  const forget = (uid: string): boolean => {
    for (const [namespace, keys] of byNamespace) {
      if (!keys.delete(uid)) continue;
      if (keys.size === 0) byNamespace.delete(namespace);
      return true;
    }
    return false;
  };
  return {
    note({ metadata }, refusal) {
      if (!refusal || !untilOthersGo.has(refusal.reason)) {
        if (forget(metadata.uid)) retry();
        return refusal;
      }
      const keys = byNamespace.get(metadata.namespace) ?? new Map<string, string>();
      byNamespace.set(metadata.namespace, keys);
      if (!keys.has(metadata.uid)) keys.set(metadata.uid, keyOf(metadata));
      return refusal;
    },
    forget: (uid) => void forget(uid),
    retry,
  };
};
