/** The objects that settings of pools and browsers refer to, kept up to date by watches; for both loops. */

import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type Change, type Reflector, startReflector } from "../../../platform/kube/reflector.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import {
  type Referable,
  type ReferencedKind,
  type ReferencedObjects,
  referencedKinds,
  referencesOf,
  resolveReferences,
} from "../../model/settings/references.ts";
import type { ProfileVersion } from "./observed.ts";

export type References = {
  /** The objects of the pool's namespace, of the kinds that it refers to. */
  of(pool: BrowserPool): ReferencedObjects;
  /** The pool's profile, and the version of its contents; undefined without one. */
  profileOf(pool: BrowserPool): ProfileVersion | undefined;
  /**
   * Calls `listener` with a namespace in which a reference may find something else. Returns a function that
   * unsubscribes.
   */
  onChange(listener: (namespace: string) => void): () => void;
  synced(signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

/** The kinds that the loop does not follow: vaults are attached to sessions, and no browser is configured by them. */
const notFollowed: ReadonlySet<string> = new Set<ReferencedKind>(["Vault"]);

/** What a reference can find an object by, and the version of its contents. */
const identityOf = ({ metadata, spec, status }: Referable & { status?: { version?: number } }): string =>
  JSON.stringify([metadata.deletionTimestamp !== undefined, spec.name, status?.version]);

/** What the operator reads of a profile. */
type ObservedProfile = Referable & { status?: { version?: number; lastUsedTime?: string } };

/** Starts one watch for each kind that there is. The caller must call `stop`. */
export const startReferences = ({ kube, log }: { kube: Kube; log: Logger }): References => {
  const listeners = new Set<(namespace: string) => void>();
  const identities = new Map<string, string>();
  const onChange = (object: Referable, change: Change): void => {
    const { uid, namespace = "" } = object.metadata;
    const identity = identityOf(object);
    if (change === "DELETED") identities.delete(uid);
    else if (identities.get(uid) === identity) return;
    else identities.set(uid, identity);
    for (const listener of listeners) listener(namespace);
  };
  const reflectors = Object.entries(referencedKinds).flatMap(([kind, type]): [string, Reflector<Referable>][] =>
    notFollowed.has(kind) ? [] : [[kind, startReflector<Referable>({ kube, type, onChange, log })]],
  );
  const of: References["of"] = ({ metadata, spec }) => {
    const kinds = new Set<string>(referencesOf(spec).map(({ kind }) => kind));
    const found = reflectors
      .filter(([kind]) => kinds.has(kind))
      .map(([kind, objects]) => [kind, objects.list().filter((one) => one.metadata.namespace === metadata.namespace)]);
    return Object.fromEntries(found);
  };
  return {
    of,
    profileOf(pool) {
      const objects = of(pool);
      const { profileId } = resolveReferences(pool.spec, objects);
      const profile = objects.Profile?.find(({ metadata }) => metadata.name === profileId) as
        | ObservedProfile
        | undefined;
      if (!profile) return undefined;
      const { version = 0, lastUsedTime } = profile.status ?? {};
      const { uid, name } = profile.metadata;
      return { uid, name, version, lastUsedMs: lastUsedTime ? Date.parse(lastUsedTime) : 0 };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async synced(signal) {
      await Promise.all(reflectors.map(([, objects]) => objects.synced(signal)));
    },
    async stop() {
      await Promise.all(reflectors.map(([, objects]) => objects.stop()));
    },
  };
};
